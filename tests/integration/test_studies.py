"""What studies share: the file of results, the folder of corpora, tables."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from studies.corpora import hold_out, read_part, read_parts, reader
from studies.grids import canonical
from studies.results import ResultFile
from studies.runs import as_time, data_folder, run
from studies.tables import full_columns, gained, interval, shown, table, verdict

from spacy_structreg.metrics.summary import summary


@dataclass(frozen=True)
class Key:
    corpus: str
    seed: int


@dataclass(frozen=True)
class Result:
    f: float
    checksum: str

    def __post_init__(self) -> None:
        if not 0 <= self.f <= 1:
            raise ValueError("no fraction")


class Results(ResultFile[Key, Result]):
    key, result = Key, Result


def test_results_are_added_line_by_line_and_found_again(tmp_path):
    path = tmp_path / "folder" / "runs.jsonl"
    results = Results(path)
    assert len(results) == 0
    assert not path.exists()
    results.add(Key("a", 0), Result(0.5, "x"))
    results.add(Key("b", 1), Result(0.25, "y"))
    # What is there stays.
    results.add(Key("a", 0), Result(0.75, "x"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines == [
        {"corpus": "a", "seed": 0, "f": 0.5, "checksum": "x"},
        {"corpus": "b", "seed": 1, "f": 0.25, "checksum": "y"},
    ]
    again = Results(path)
    assert again[Key("a", 0)] == Result(0.5, "x")
    assert again.get(Key("b", 1), lambda result: result.f) == 0.25
    assert again.get(Key("b", 2), lambda result: result.f) is None
    assert Key("b", 1) in again
    assert Key("b", 2) not in again
    again.check("a", "x")
    again.check("c", "z")
    with pytest.raises(ValueError, match="another training corpus a"):
        again.check("a", "y")
    with pytest.raises(ValueError, match="corpus b, seed 2; run the grid first"):
        again[Key("b", 2)]


def test_a_line_that_was_not_finished_is_dropped_and_others_are_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    line = '{"corpus": "a", "seed": 0, "f": 0.5, "checksum": "x"}\n'
    path.write_text(line + line[:20], encoding="utf-8")
    assert len(Results(path)) == 1
    assert path.read_text(encoding="utf-8") == line
    for broken in (
        "{}",
        "[]",
        "nothing",
        line.replace("0.5", "1.5").strip(),
        line[:-2] + ', "g":1}',
    ):
        path.write_text(f"{line}{broken}\n{line}", encoding="utf-8")
        with pytest.raises(ValueError, match=r"runs\.jsonl:2: not a result"):
            Results(path)


def test_the_folder_of_corpora_is_named_by_a_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("STRUCTREG_DATA", raising=False)
    with pytest.raises(ValueError, match="set the environment variable STRUCTREG_DATA"):
        data_folder()
    monkeypatch.setenv("STRUCTREG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="does not exist"):
        data_folder()
    monkeypatch.setenv("STRUCTREG_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@dataclass(frozen=True)
class Task:
    corpus: str
    seeds: tuple[int, ...]

    def run(self, corpus):
        assert corpus.checksum == "x"
        for seed in self.seeds:
            yield Key(self.corpus, seed), {"f": 0.5}


@dataclass(frozen=True)
class Corpus:
    checksum: str = "x"


@dataclass(frozen=True)
class Grid:
    corpora: dict


def test_the_time_that_is_left_is_told(tmp_path, capsys):
    """By what tasks are expected to take; of the last one, nothing is left."""
    wanted = [Task("a", (0,)), Task("a", (1, 2)), Task("b", (0,)), Task("none", (0,))]

    class Timed(ResultFile[Key, Result]):
        key = Key

        @staticmethod
        def result(*, version, **fields):
            return Result(**fields)

    def missing(grid, results):
        return [task for task in wanted if Key(task.corpus, task.seeds[0]) not in results]

    def read(name, entry, folder):
        if name == "none":
            raise OSError("no such file")
        return Corpus()

    entries = {name: {"folder": tmp_path} for name in "ab"}
    grid = Grid(entries | {"none": {"folder": tmp_path, "needs": "a license"}})
    results = Timed(tmp_path / "runs.jsonl")
    with pytest.raises(ValueError, match="all else is run"):
        run(grid, results, missing, read, lambda grid, results, tasks: [60.0, 600.0, 30.0, 5400.0])
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "to be run: about 1 h 42 min of one process"
    assert [line[:5] for line in told[1:] if line.startswith("[")] == ["[1/4]", "[2/4]", "[3/4]"]
    assert all(line.endswith(" left)") for line in told if line.startswith("["))
    assert len(results) == 4


def test_times_are_said_as_people_say_them():
    said = {0: "0 s", 99: "99 s", 100: "2 min", 3599: "1 h 00 min", 7500: "2 h 05 min"}
    assert {seconds: as_time(seconds) for seconds in said} == said


def test_settings_are_filed_under_one_line():
    setting = {"l2": 1e-5, "beam": 16, "merge": True, "types": None, "templates": "rich"}
    assert canonical(setting) == "beam=16 l2=1e-05 merge=True templates=rich types=None"


def test_parts_of_corpora():
    entry = {"train": "a", "test": "b", "dev": "c", "none": "d"}
    files = {"a": list(range(20)), "b": [1], "c": [2], "d": []}
    assert read_parts("x", entry, files.get) == (files["a"], [2], [1])
    del entry["dev"]
    assert read_parts("x", entry, files.get) == (list(range(18)), [18, 19], [1])
    # Ten folds, as `corpora.splits.fold_bounds` has them.
    whole = read_parts("x", {"whole": "a"}, {"a": list(range(25))}.get)
    assert whole == (list(range(20)), [20, 21], [22, 23, 24])
    with pytest.raises(ValueError, match="x has no sentence in its part 'none'"):
        read_part("x", entry, "none", files.get)
    with pytest.raises(ValueError, match="x is too small to take a tenth of"):
        hold_out("x", [1])
    with pytest.raises(ValueError, match="x has no reader; choose from segmented, conllu"):
        reader("x", {"reader": "xml"})


def test_figures_and_tables_are_written_as_reports_show_them():
    two = summary([1.0, 3.0])
    assert shown(two, 1) == "2.0 ± 1.4"
    assert interval(two, 1) == "-10.7 to 14.7"
    assert shown(summary([1.0])) == "1.00"
    assert interval(summary([1.0])) == ""
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"


def test_columns_without_figures_are_left_out():
    text = full_columns(["a", "b", "c", "d"], [["x", "", "1", "2"], ["y", "", "", "3"]], 2, {"d"})
    assert text == "| a | c |\n| --- | ---: |\n| x | 1 |\n| y |  |\n"


def test_differences_are_judged_by_their_intervals():
    for values, said in (([1.0], "one pair"), ([1.0, 1.1], "above"), ([-1.0, -1.1], "below")):
        assert verdict(summary(values), "above", "below") == said
    assert verdict(summary([1.0, -0.5]), "above", "below") == "undecided"
    assert verdict(summary([1.0, -0.5]), "above", "below", "equal") == "equal"
    assert gained(summary([1.0])) == "+1.00"
    assert gained(summary([-1.0, -2.0])) == "-1.50 ± 6.35"
