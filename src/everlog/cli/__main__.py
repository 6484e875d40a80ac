"""``python -m everlog.cli`` is ``everlog``."""

from everlog.cli import main

if __name__ == "__main__":
    main()
