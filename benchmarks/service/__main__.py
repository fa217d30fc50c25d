"""`python benchmarks/service` and `python -m benchmarks.service` are the same."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:
    # Run as a folder: that folder is the first of sys.path, and the package is out of reach.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from benchmarks.service.run import main

if __name__ == "__main__":
    sys.exit(main())
