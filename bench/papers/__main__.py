"""``python -m bench.papers [DATASETS...] [--quick] [--resume]``: the same as ``python -m bench papers``."""

import sys

from bench.__main__ import main

sys.exit(main(["papers", *sys.argv[1:]]))
