"""Where the facts of a version are while it is reasoned about: in this process, in the store, or in executors."""
