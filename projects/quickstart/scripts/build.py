"""Train the pipeline, step by step, and say how much time is left.

`python scripts/build.py PROJECT`: the steps of the workflow `pipeline` up to the pipeline itself,
without scoring and packaging it. What is there already is not made again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import srsly

LAST = "calibrate"
# Seconds on two idle cores.
SECONDS = {
    "words": 3,
    "convert-registers": 30,
    "train-tokenizer": 190,
    "tag-training-set": 35,
    "train-constituency": 80,
    "train-parser": 40,
    "train-entities": 15,
    "assemble": 8,
    "calibrate": 10,
}
# A step that takes less of its time was done before.
DONE = 0.3


def build(project: Path) -> None:
    """Run the steps. Raises CalledProcessError if one fails, which has said why."""
    settings = srsly.read_yaml(project / "project.yml")
    steps = settings["workflows"]["pipeline"]
    steps = steps[: steps.index(LAST) + 1]
    helps = {command["name"]: command["help"] for command in settings["commands"]}
    # Of this machine, by the seconds of the steps so far.
    taken = expected = 0.0
    for number, step in enumerate(steps, 1):
        pace = taken / expected if expected else 1.0
        left = pace * sum(SECONDS[each] for each in steps[number - 1 :])
        shown = f"{left // 60:.0f} min {left % 60:02.0f} s"
        print(f"\n[{number}/{len(steps)}] {helps[step]} (about {shown} left)", flush=True)
        start = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "spacy", "project", "run", step, str(project)], check=True
        )
        seconds = perf_counter() - start
        if seconds > DONE * SECONDS[step]:
            taken += seconds
            expected += SECONDS[step]


def main(arguments: list[str] | None = None) -> int:
    """0 if the pipeline is there, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("project", type=Path)
    given = parser.parse_args(arguments)
    try:
        build(given.project)
    except subprocess.CalledProcessError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
