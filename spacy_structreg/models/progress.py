"""Progress bars: on terminals, and in notebooks."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import Any


def in_notebook() -> bool:
    """True within a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


def shows_bars() -> bool:
    """True if somebody sees a bar on standard error: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or in_notebook()


def progress_bar(*arguments: Any, disable: bool | None = None, **settings: Any) -> Any:
    """A bar of tqdm; a widget in a notebook that has ipywidgets.

    disable: None shows the bar where `shows_bars`. The others: as `tqdm.tqdm` has them.
    """
    hidden = not shows_bars() if disable is None else disable
    return _bars()(*arguments, disable=hidden, **settings)


@cache
def _bars() -> Any:
    """The class of bars. Filters of warnings belong to all threads, so it is imported once."""
    from tqdm import TqdmWarning

    with warnings.catch_warnings():
        # Without ipywidgets, the bar is one of letters, and that is all.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.autonotebook import tqdm
    return tqdm
