"""The script that trains the pipeline: what can be side by side, nothing twice, errors shown."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import srsly

ROOT = Path(__file__).parents[2]
BUILD = runpy.run_path(str(ROOT / "projects/quickstart/scripts/build.py"))

# Two steps that each wait until the other has begun, and one that reads what both write.
MEET = """
import sys, time
from pathlib import Path
own, other = map(Path, sys.argv[1:])
own.write_text("begun")
end = time.monotonic() + 60
while not other.exists() and time.monotonic() < end:
    time.sleep(0.01)
assert other.exists(), f"{other} has not begun"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "meet.py").write_text(MEET, encoding="utf-8")
    commands: list[dict[str, Any]] = [
        {
            "name": "words",
            "help": "Begin",
            "script": ['python -c \'open("words.txt", "a").write("w")\''],
            "outputs": ["words.txt"],
        },
        *(
            {
                "name": name,
                "help": f"Train {own}",
                "script": [f"python meet.py {own} {other}"],
                "deps": ["words.txt"],
                "outputs": [own],
            }
            for name, own, other in (
                ("train-tokenizer", "first", "second"),
                ("train-parser", "second", "first"),
            )
        ),
        {
            "name": "assemble",
            "help": "End",
            "script": ['python -c \'open("end", "w").write(open("first").read())\''],
            "deps": ["first", "second"],
            "outputs": ["end"],
        },
    ]
    workflows = {"pipeline": [command["name"] for command in commands]}
    srsly.write_yaml(tmp_path / "project.yml", {"commands": commands, "workflows": workflows})
    return tmp_path


def test_steps_run_side_by_side_and_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(project), "--last", "assemble"]
    assert BUILD["main"](arguments) == 0
    assert (project / "end").read_text(encoding="utf-8") == "begun"
    assert capsys.readouterr().out.split("\n")[:2] == ["[1/4] Begin", "[2/4] Train first"]
    assert BUILD["main"](arguments) == 0
    assert (project / "words.txt").read_text(encoding="utf-8") == "w"
    assert capsys.readouterr().out == ""


def test_what_a_failing_step_printed_is_shown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "meet.py").write_text("raise SystemExit('no such corpus')", encoding="utf-8")
    assert BUILD["main"]([str(project), "--last", "assemble"]) == 1
    assert "no such corpus" in capsys.readouterr().err
    assert not (project / "end").exists()


def test_the_time_left_is_that_of_the_longest_chain() -> None:
    waits_for = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}
    steps = [{"name": name} for name in waits_for]
    seconds = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 3.0}
    assert BUILD["longest_chain"](steps, waits_for, seconds) == 9.0


def test_every_step_of_the_pipeline_has_a_time() -> None:
    workflow = srsly.read_yaml(ROOT / "projects/quickstart/project.yml")["workflows"]["pipeline"]
    assert set(workflow) == set(BUILD["SECONDS"])
