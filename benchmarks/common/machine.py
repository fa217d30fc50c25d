"""Facts of the machine, and what the command lines of benchmarks have in common."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from benchmarks.common.worker import ONE_THREAD

__all__ = [
    "check_cpu",
    "command",
    "last_cpu",
    "load_average",
    "log_line",
    "machine_facts",
    "positive",
    "told",
    "without_folders",
]

P = ParamSpec("P")

# The folders of a path, as they stand in the messages of errors.
FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"()]+[/\\])+")


def last_cpu() -> int | None:
    """The last processor that this process may use, where the operating system can tell."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def check_cpu(cpu: int | None) -> None:
    """Raise ValueError for a processor that this process may not use."""
    if cpu is not None and hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        if cpu not in allowed:
            raise ValueError(f"--cpu {cpu}: this process may use {allowed}")


def machine_facts() -> dict[str, Any]:
    """The facts that figures depend on; none of them names the machine."""
    return {
        "CPU": _cpu_model(),
        "CPUs": os.cpu_count(),
        "load average": load_average(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "threads": ", ".join(name for name in ONE_THREAD if name.endswith("THREADS")) + " = 1",
        "date": datetime.date.today().isoformat(),
    }


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load_average() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def positive(text: str) -> int:
    """A number of the command line that is at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def told(error: Exception) -> str:
    """The message of an error, without the number of a system error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def command(measure: Callable[P, object]) -> Callable[P, int]:
    """Make a command of a function that measures, reports, and returns what failed.

    The command returns 0, or 1 if anything failed, 2 after a ValueError or OSError, whose message
    it prints, 130 if it was interrupted.
    """

    @wraps(measure)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return 1 if measure(*args, **kwargs) else 0
        except (ValueError, OSError) as error:
            print(f"error: {told(error)}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            log_line("interrupted: nothing was written")
            return 130

    return run


def log_line(line: str) -> None:
    """Print how far a run is, to standard error."""
    print(line, file=sys.stderr, flush=True)


def without_folders(error: Exception) -> str:
    """The last line of what an error says, for reports, which name no folders."""
    lines = str(error).strip().splitlines() or ["no reason given"]
    return FOLDERS.sub("", lines[-1])
