"""Train the pipelines: steps that do not wait for each other run side by side, with the time left.

`python scripts/build.py PROJECT`: the steps of the workflow `pipeline` up to the pipeline itself,
or, with `--last show`, all of them. What is there already is not made again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from subprocess import SubprocessError
from time import perf_counter
from typing import Any, TypeAlias

from tqdm import tqdm
from weasel.cli.run import check_rerun, run_commands, update_lockfile
from weasel.util import load_project_config, working_dir

Step: TypeAlias = Mapping[str, Any]

JOBS = 2
# Seconds on two idle cores, beside another step.
SECONDS = {
    "words": 3,
    "convert-registers": 45,
    "train-tokenizer": 270,
    "tag-training-set": 70,
    "train-constituency": 280,
    "train-parser": 60,
    "train-entities": 30,
    "assemble": 8,
    "calibrate": 10,
    "report": 30,
    "package": 15,
    "train-fast": 60,
    "report-fast": 10,
    "package-fast": 10,
    "show": 10,
}


def makers(steps: Iterable[Step]) -> dict[str, set[str]]:
    """The steps whose outputs each step reads, by name. steps: in the order of the workflow."""
    found: dict[str, set[str]] = {}
    made: dict[Path, str] = {}
    for step in steps:
        read = {
            place for path in step.get("deps", ()) for place in (Path(path), *Path(path).parents)
        }
        found[step["name"]] = {name for output, name in made.items() if output in read}
        made |= {Path(path): step["name"] for path in step.get("outputs", ())}
    return found


def longest_chain(
    steps: Iterable[Step], waits_for: Mapping[str, set[str]], seconds: Mapping[str, float]
) -> float:
    """The seconds until all steps are done, each as soon as those that it waits for."""
    ends: dict[str, float] = {}
    for step in steps:
        name = step["name"]
        begin = max((ends.get(each, 0.0) for each in waits_for[name]), default=0.0)
        ends[name] = begin + seconds[name]
    return max(ends.values(), default=0.0)


def build(project: Path, last: str) -> bool:
    """Run the steps up to `last`; False if one fails, whose output is shown at once.

    No step begins after that, but one that runs is waited for: it is not to be made again.
    """
    config = load_project_config(project)
    commands = {command["name"]: command for command in config["commands"]}
    names = config["workflows"]["pipeline"]
    waiting = [commands[name] for name in names[: names.index(last) + 1]]
    waits_for = makers(waiting)
    n_steps = len(waiting)
    running: dict[Future[None], Step] = {}
    failed = False
    began: dict[str, float] = {}
    seconds = dict(SECONDS)
    with (
        working_dir(project) as folder,
        ThreadPoolExecutor(JOBS) as pool,
        # In the log of an image or of continuous integration, there is no bar.
        tqdm(total=1.0, bar_format="{percentage:3.0f}% |{bar}| {desc}", disable=None) as bar,
    ):
        start = perf_counter()
        while running or (waiting and not failed):
            unfinished = {step["name"] for step in (*running.values(), *waiting)}
            for step in [each for each in waiting if not waits_for[each["name"]] & unfinished]:
                if failed or len(running) == JOBS:
                    break
                waiting.remove(step)
                if check_rerun(folder, step):
                    number = n_steps - len(waiting)
                    bar.write(f"[{number}/{n_steps}] {step['help']}", file=sys.stdout)
                    began[step["name"]] = perf_counter()
                    future = pool.submit(run_commands, step["script"], silent=True, capture=True)
                    running[future] = step
            for future in wait(running, timeout=1, return_when=FIRST_COMPLETED).done:
                step = running.pop(future)
                try:
                    future.result()
                except SubprocessError as error:
                    failed = True
                    bar.write(str(error), file=sys.stderr)
                else:
                    update_lockfile(folder, step)
            now = perf_counter()
            for step in running.values():
                name = step["name"]
                seconds[name] = max(SECONDS[name] - (now - began[name]), 1.0)
            left = longest_chain([*running.values(), *waiting], waits_for, seconds)
            bar.n = (now - start) / (now - start + left) if left else 1.0
            bar.set_description_str(f"about {left // 60:.0f} min {left % 60:02.0f} s left")
    return not failed


def main(arguments: list[str] | None = None) -> int:
    """0 if the pipeline is there, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("project", type=Path)
    parser.add_argument("--last", default="calibrate", choices=SECONDS, help="Step to end with")
    given = parser.parse_args(arguments)
    return 0 if build(given.project, given.last) else 1


if __name__ == "__main__":
    sys.exit(main())
