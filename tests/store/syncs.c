/* Preloaded into a process: records in the file $SYNCS which files it writes, names and syncs, in order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void record(const char *what, unsigned long inode, const char *one, const char *other) {
    const char *place = getenv("SYNCS");
    if (!place) return;
    static int handle = -1;
    if (handle < 0) handle = REAL(open)(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    char line[9000];
    int size = snprintf(line, sizeof line, "%s\t%lu\t%s\t%s\n", what, inode, one, other);
    REAL(write)(handle, line, size);
}

static void record_handle(const char *what, int handle) {
    struct stat found;
    char link[64], path[4096];
    if (fstat(handle, &found) || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return;
    path[size] = 0;
    record(what, found.st_ino, path, "");
}

static int record_name(const char *what, int done, const char *one, const char *other) {
    struct stat found = {0};
    char from[4096], to[4096];
    if (done) return done;
    if (!realpath(other, to)) strcpy(to, other);
    if (!realpath(one, from)) { /* the name is gone, its directory is not */
        char copy[4096], directory[4096];
        strcpy(copy, one);
        char *slash = strrchr(copy, '/');
        if (slash) { *slash = 0; if (realpath(copy, directory)) snprintf(from, sizeof from, "%s/%s", directory, slash + 1); else strcpy(from, one); }
        else strcpy(from, one);
    }
    stat(to, &found);
    record(what, found.st_ino, from, to);
    return done;
}

ssize_t write(int handle, const void *data, size_t size) {
    ssize_t done = REAL(write)(handle, data, size);
    if (done > 0) record_handle("write", handle);
    return done;
}
ssize_t writev(int handle, const struct iovec *parts, int count) {
    ssize_t done = REAL(writev)(handle, parts, count);
    if (done > 0) record_handle("write", handle);
    return done;
}
int fsync(int handle) { int done = REAL(fsync)(handle); if (!done) record_handle("sync", handle); return done; }
int fdatasync(int handle) { int done = REAL(fdatasync)(handle); if (!done) record_handle("sync", handle); return done; }
int rename(const char *from, const char *to) { return record_name("rename", REAL(rename)(from, to), from, to); }
int link(const char *from, const char *to) { return record_name("link", REAL(link)(from, to), from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    return record_name("link", REAL(linkat)(a, from, b, to, flags), from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    return record_name("rename", REAL(renameat)(a, from, b, to), from, to);
}
