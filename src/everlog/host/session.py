"""The one place where Spark sessions are started.

A session is quiet: the JVM's own output goes to a log file in a directory of the session's own, which
also holds the warehouse, and nothing is written to the working directory. The log is shown
(its end) when the start fails, and kept where ``EVERLOG_SPARK_LOG`` says, if it is set.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.host.locations import spark_options
from everlog.host.memory import container_limit
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError
from everlog.settings import in_environment

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The environment variable in which spark-submit passes the port of the JVM."""

APP = "everlog"
"""The name of a session, if no option sets another one."""

OLDEST_JAVA = 17
"""The oldest version of Java on which Spark runs."""

JAVA_REMEDY = (
    f"install a Java runtime of version {OLDEST_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless) "
    "and put `java` on the PATH or set JAVA_HOME"
)

LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
"""Spark's log4j2 properties: warnings and errors only."""


WORKER_LIMIT = "spark.executor.pyspark.memory"
"""The option that limits the address space of Python workers."""

LEAN = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The environment of workers with such a limit: Arrow's own allocator reserves a gigabyte at the start, and that of C
64 to 128 MB for each arena after the first, of which each thread has one."""


BROADCAST = "2m"
"""The smaller side of a join is broadcast through the driver up to this size; by Spark's default, 10 MB, such
rows are a tenth of what the driver holds."""

REMEMBERED = {
    "spark.ui.retainedJobs": "300",
    "spark.ui.retainedStages": "300",
    "spark.ui.retainedTasks": "3000",
    "spark.sql.ui.retainedExecutions": "50",
}
"""Maximum number of jobs, stages and tasks that the driver remembers for the user interface, which is off."""


def session(master: str | None = None, **conf: object) -> SparkSession:
    """The active Spark session, or a new one.

    ``master`` is a Spark master URL, by default ``EVERLOG_MASTER`` or ``local[*]``: Spark embedded in
    this process, on all cores. Workers of a cluster need everlog (see docs/clusters.md) and a file system
    shared with this process. ``conf`` sets Spark's options; write ``_`` twice for a dot
    (``spark__sql__shuffle__partitions=4``) or pass a mapping with ``**``.

    An active session is returned unchanged. In a process that spark-submit started, its options take precedence over
    the defaults here. Otherwise starting a session takes 3 to 10 seconds.
    """
    require_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in conf.items()}
    given = {key.replace("__", "."): text for key, text in texts.items()}
    chosen = master or in_environment("master")
    if SUBMITTED in os.environ:
        return _submitted({"spark.master": chosen, **given} if chosen else given)
    master = chosen or "local[*]"
    return _start(master, _lean_environment(given) | _defaults(master) | given)


def _lean_environment(options: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that let workers run with a limited address space; empty without a limit."""
    return {f"spark.executorEnv.{name}": value for name, value in LEAN.items()} if WORKER_LIMIT in options else {}


def _submitted(given: dict[str, str]) -> SparkSession:
    """The session of a process that spark-submit started, with the options given to spark-submit."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()
    conf = SparkConf().setAll(list(given.items()))
    defaults = _lean_environment(dict(conf.getAll())) | _defaults(conf.get("spark.master", "local[*]") or "")
    for name, value in {**defaults, "spark.app.name": APP}.items():
        conf.setIfMissing(name, value)
    return SparkSession.builder.config(conf=conf.setIfMissing("spark.master", "local[*]")).getOrCreate()


def require_pyspark() -> None:
    """Raise an error with the remedy unless pyspark is installed."""
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError as error:
        hint = "install it with `pip install pyspark`; `everlog.KnowledgeBase` in Python does without"
        raise EverlogError.of(Code.NO_PYSPARK, "this needs Spark, and pyspark is not installed", hint=hint) from error


def require_java() -> None:
    """Raise an error with the remedy unless a Java version that Spark can use is installed."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home, "bin", "java")) if home else "java"
    path = shutil.which(command)
    if path is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise EverlogError.of(Code.NO_JAVA, f"Spark needs Java, and there is no `java` {where}", hint=JAVA_REMEDY)
    version = _java_version(path)
    if version is not None and version < OLDEST_JAVA:
        message = f"Spark needs Java {OLDEST_JAVA}, and {path} is {version}"
        raise EverlogError.of(Code.OLD_JAVA, message, None, JAVA_REMEDY)


@cache
def _java_version(path: str) -> int | None:
    """The major version of a Java: 17 for ``17.0.15``, 8 for ``1.8.0``; None if it does not say."""
    printed = subprocess.run([path, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found[1]) if found else None


def _defaults(master: str) -> dict[str, str]:
    """The default options, chosen for one machine; those that a cluster's own configuration should set are left out."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    own = _own_directory()
    logging = own / "log4j2.properties"
    logging.write_text(LOGGING)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j.configurationFile={logging.as_uri()}",
        "spark.sql.warehouse.dir": (own / "warehouse").as_uri(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.autoBroadcastJoinThreshold": BROADCAST,
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.files.ignoreMissingFiles": "false",
        **REMEMBERED,
        **spark_options(),
    }
    if master.startswith("local"):
        options |= {
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": in_environment("spark-memory") or f"{_heap_megabytes()}m",
        }
    elif memory := in_environment("spark-memory"):
        options["spark.driver.memory"] = memory
    return options


def _heap_megabytes() -> int:
    """The heap of the JVM in megabytes: a quarter of the machine's memory, 1 to 8 GB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    total = min(total, container_limit() or total)
    return max(1024, min(8192, total // 4 >> 20))


@cache
def _own_directory() -> Path:
    """A directory for the sessions of this process, removed when the process ends."""
    path = Path(tempfile.mkdtemp(prefix="everlog-spark-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _start(master: str, options: dict[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName(APP).setAll(list(options.items()))
    log = Path(in_environment("spark-log") or _own_directory() / "spark.log")
    try:
        if SparkContext._gateway is None:
            SparkContext._ensure_initialized(gateway=_launch(conf, log))
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        raise _start_error(str(error).splitlines()[0], log) from error


def _launch(conf: SparkConf, log: Path) -> object:
    """Start the JVM with its output in a file: it prints lines that no logging option silences.

    The options of file systems are set later, since they may be secrets and all users can see the
    command that starts it. A JVM whose start is interrupted would wait for a driver forever, so it is ended.
    """
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    before = _children()
    shown = [(name, value) for name, value in conf.getAll() if not name.startswith("spark.hadoop.")]
    conf = SparkConf(loadDefaults=False).setAll(shown)
    with log.open("ab") as output:
        try:
            return launch_gateway(conf, popen_kwargs={"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
        except BaseException:
            for child in _children() - before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            raise


def _children() -> set[int]:
    """The running child processes of this process; empty on systems without ``/proc``."""
    return {int(child) for tasks in Path("/proc/self/task").glob("*/children") for child in tasks.read_text().split()}


def _start_error(reason: str, log: Path) -> EverlogError:
    """The error with the last lines of Spark's log, stack traces left out."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    last = [line.strip() for line in lines if not line.lstrip().startswith("at ")][-6:]
    hint = "check --master, the memory (EVERLOG_SPARK_MEMORY), and what Spark said"
    notes = tuple((line, None) for line in last)
    return EverlogError(Diagnostic(Code.SPARK_START, f"Spark did not start: {reason}", None, hint, notes))
