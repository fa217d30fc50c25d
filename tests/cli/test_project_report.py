"""The script `report`: figures worked by hand, of our own pipelines and of others'."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import report as script
import spacy
import typer
from click.testing import Result
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_structreg.cli.commands import as_command
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.pipeline.gold_docs import read_sentences

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]

pytestmark = pytest.mark.usefixtures("extensions")

# Words: 小王 看 书 。 and 我 用 iPad ， 他 看 车 。
FIRST = "( (IP (NP-SBJ (NR=PERSON 小王)) (VP (VV 看) (NP-OBJ (NN 书))) (PU 。)))\n"
SECOND = (
    "( (IP (IP (NP-SBJ (PN 我)) (VP (VV 用) (NP-OBJ (NN=PRODUCT iPad)))) (PU ，)"
    " (IP (NP-SBJ (PN 他)) (VP (VV 看) (NP-OBJ (NN 车)))) (PU 。)))\n"
)
RUNS = """\
# Every character is a word of the pipeline without a model.
measure	重⟦35|kg⟧
number	⟦3⟧万
number	⟦35⟧万
punctuation	走⟦！⟧
"""
LAYERS = ["seg_f", "joint_f", "las_f", "uas_f", "text_brackets_f", "ents_f"]
PUNCTUATED = ["without final punctuation", "without punctuation"]
TRADITIONAL = "traditional script"


@pytest.fixture
def app() -> typer.Typer:
    """The script as a command."""
    app = typer.Typer()
    app.command()(as_command(script.report))
    return app


@pytest.fixture(autouse=True)
def without_opencc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)


@pytest.fixture
def with_opencc(without_opencc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package like OpenCC that knows of one character."""

    def converter(name: str) -> Any:
        assert name == "s2t"
        return SimpleNamespace(convert=lambda text: text.replace("书", "書"))

    monkeypatch.setitem(sys.modules, "opencc", SimpleNamespace(OpenCC=converter))


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A treebank of two registers of one sentence each."""
    folder = tmp_path_factory.mktemp("treebank")
    for path, text in (
        ("test/chat.bracket", FIRST),
        ("test/news.bracket", SECOND),
        ("dev/chat.bracket", FIRST),
        ("typed_runs.txt", RUNS),
    ):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a pipeline that has learned all layers of the two sentences."""
    files = sorted((treebank / "test").iterdir())
    sentences = [sentence for path in files for sentence in read_sentences(path)]
    tokenizer = {
        "@tokenizers": "spacy_structreg.JointTagger.v1",
        "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1", "seed": 1},
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.tokenizer.model.fit(
        [list(zip(each.words, each.tags or (), strict=True)) for each in sentences]
    )
    model = {"model": {"seed": 1}}
    parser: Any = nlp.add_pipe("structreg_constituency", config={"dependencies": "model", **model})
    trees = [tree for path in files for tree in constituency_sentences(path, "ctb")]
    parser.estimator.fit(4 * trees)
    labeler: Any = nlp.add_pipe("structreg_sequence_labeler", config=model)
    labeler.estimator.fit(
        [
            list(zip(each.words, labels_of(each.entities or (), len(each.words)), strict=True))
            for each in sentences
        ]
    )
    path = tmp_path_factory.mktemp("pipelines") / "layers"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def foreign(characters: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a pipeline of which no part is ours: a pipe writes tags, heads and entities."""

    @Language.component("report_toy", assigns=["token.tag", "token.head", "token.dep", "doc.ents"])
    def annotate(doc: Doc) -> Doc:
        """Every word is PU but 書, hangs on the third one, and the first two are a person."""
        for token in doc:
            token.tag_ = "NN" if token.text == "書" else "PU"
            token.head, token.dep_ = doc[2], "ROOT" if token.i == 2 else "dep"
        doc.ents = [Span(doc, 0, 2, "PERSON")]
        return doc

    nlp = spacy.load(characters)
    nlp.add_pipe("report_toy")
    path = tmp_path_factory.mktemp("pipelines") / "foreign"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture
def report(invoke: Invoke, treebank: Path, tmp_path: Path) -> Callable[..., tuple[Any, str]]:
    """The report of a pipeline on the small treebank: what is written, and what is printed."""

    def run(*arguments: object) -> tuple[Any, str]:
        output = tmp_path / "report.json"
        result = invoke(*arguments, "--treebank", treebank, "-o", output, "--force")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(output.read_text("utf-8")), result.stdout

    return run


def cells(printed: str) -> dict[str, str]:
    """The rows of the tables, by their names; of equal ones the last. A space parts the cells."""
    rows = re.findall(r"^(\S+(?: \S+)*?)  +(\S.*?) *$", printed, re.MULTILINE)
    return {name: " ".join(row.split()) for name, row in rows}


Report = Callable[..., tuple[Any, str]]


def test_words_of_any_pipeline(characters: str, report: Report) -> None:
    found, printed = report(characters)
    # Of 5 characters 看 书 。 are words, of 4 words in all; in the other, 7 of 11 of 8.
    registers = found["registers"]
    assert registers == {
        "chat": {
            "sentences": 1,
            "figures": {"seg_f": pytest.approx(2 * 3 / (4 + 5)), "crossed": 0},
        },
        "news": {
            "sentences": 1,
            "figures": {"seg_f": pytest.approx(2 * 7 / (8 + 11)), "crossed": 0},
        },
    }
    assert found["all"]["figures"] == {"seg_f": pytest.approx(2 * 10 / (12 + 16)), "crossed": 0}
    assert found["entities"] == {}
    variants = found["variants"]
    assert variants["half-width punctuation"]["figures"] == {
        "seg_f": found["all"]["figures"]["seg_f"],
        "same": 1,
    }
    # Without 。 twice, and then without ， as well.
    for name, right, gold, words in ((PUNCTUATED[0], 8, 10, 14), (PUNCTUATED[1], 7, 9, 13)):
        expected = {"seg_f": pytest.approx(2 * right / (gold + words))}
        assert variants[name] == {"sentences": 2, "figures": expected}
    assert found["typed_runs"] == {
        "measure": {"right": 0, "cases": 1},
        "number": {"right": 1, "cases": 2},
        "punctuation": {"right": 1, "cases": 1},
        "all": {"right": 2, "cases": 4},
    }
    assert (found["part"], found["against"]) == ("test", None)
    assert (
        cells(printed).items()
        >= {
            "chat": "1 66.7 0.00",
            "news": "1 73.7 0.00",
            "half-width punctuation": "2 71.4 100.0",
            "number": "1/2",
            "all": "2/4",
        }.items()
    )


def test_all_layers_of_a_trained_pipeline(trained: str, report: Report) -> None:
    found, printed = report(trained)
    perfect = dict.fromkeys(LAYERS, 1)
    registers = found["registers"]
    for row, words in ((registers["chat"], 4), (registers["news"], 8), (found["all"], 12)):
        # The parser of constituents gives no relations but those of the roots.
        labeled = {"las_f": pytest.approx(row["sentences"] / words)}
        assert row["figures"] == perfect | labeled | {"crossed": 0}
    assert found["variants"]["half-width punctuation"]["figures"].keys() == {*LAYERS, "same"}
    for name in PUNCTUATED:
        # Trees and entities may not fit where words are gone.
        assert list(found["variants"][name]["figures"]) == LAYERS[:2]
    figures = ["16.7" if name == "las_f" else "100.0" for name in LAYERS]
    figures.append("0.00")
    assert re.search(r"^all +2 +" + " +".join(figures) + " *$", printed, re.MULTILINE)


def test_layers_of_anothers_pipeline(foreign: str, report: Report) -> None:
    found, _ = report(foreign)
    # Right of 小 王 看 书 。: the tag of 。, the heads of 看 书 。, and the person.
    chat = found["registers"]["chat"]["figures"]
    assert chat == {
        "seg_f": pytest.approx(6 / 9),
        "joint_f": pytest.approx(2 / 9),
        "uas_f": pytest.approx(6 / 9),
        # Of the relations, the root alone.
        "las_f": pytest.approx(2 / 9),
        "ents_f": 1,
        "crossed": 0,
    }
    # All of that is wrong of 我用iPad，他看车。 but the tags of ， and 。.
    news = found["registers"]["news"]["figures"]
    assert (news["joint_f"], news["uas_f"], news["ents_f"]) == (pytest.approx(4 / 19), 0, 0)
    types = {label: (row["gold"], row["r"]) for label, row in found["entities"].items()}
    assert types == {"PERSON": (1, 1), "PRODUCT": (1, 0)}
    # Not the mean of both.
    assert found["all"]["figures"]["joint_f"] == pytest.approx(2 * 3 / (9 + 19))
    assert found["all"]["figures"]["ents_f"] == 2 * 1 / (2 + 2)


def test_changes_against_another(
    trained: str, foreign: str, characters: str, report: Report
) -> None:
    found, printed = report(foreign, "--against", characters)
    assert found["against"]["name"] == "pipeline"
    # The other has no more than words.
    assert found["registers"]["chat"]["changes"] == {"seg_f": 0, "crossed": 0}
    assert cells(printed)["chat"] == "1 66.7 (+0.0) 22.2 22.2 66.7 100.0 0.00 (+0.00)"
    found, printed = report(characters, "--against", trained)
    assert found["registers"]["chat"]["changes"] == {
        "seg_f": pytest.approx(6 / 9 - 1),
        "crossed": 0,
    }
    assert cells(printed)["chat"] == "1 66.7 (-33.3) 0.00 (+0.00)"
    own, _ = report(trained)
    runs = found["typed_runs"]
    assert all(
        row["change"] == row["right"] - own["typed_runs"][kind]["right"]
        for kind, row in runs.items()
    )
    assert cells(printed)["all"] == f"2/4 ({runs['all']['change']:+d})"


def test_traditional_script(with_opencc: None, foreign: str, report: Report) -> None:
    found, printed = report(foreign)
    row = found["variants"][TRADITIONAL]
    # 書 has another tag, and the first sentence alone has it.
    assert row["figures"]["same"] == 0.5
    assert row["figures"]["joint_f"] == pytest.approx(2 * 4 / (9 + 19))
    assert row["figures"]["ents_f"] == found["all"]["figures"]["ents_f"]
    assert cells(printed)[TRADITIONAL].endswith("50.0")


def test_without_opencc_the_row_says_so(characters: str, report: Report) -> None:
    found, printed = report(characters)
    assert "spacy_structreg[scripts]" in found["variants"][TRADITIONAL]["missing"]
    assert re.search(rf"^{TRADITIONAL} \(needs OpenCC\) *$", printed, re.MULTILINE)


def test_without_typed_runs(characters: str, runs: Runs, treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small/dev").symlink_to(treebank / "dev")
    printed = runs(characters, "--treebank", tmp_path / "small", "--part", "dev")
    assert "dev, registers" in printed
    assert "small has no typed_runs.txt" in printed
    cases = ("--typed-runs", treebank / "typed_runs.txt")
    assert "2/4" in runs(characters, "--treebank", tmp_path / "small", "--part", "dev", *cases)


def test_mistakes(
    characters: str, untrained: str, fails: Fails, treebank: Path, tmp_path: Path
) -> None:
    message = fails(characters, "--treebank", tmp_path)
    assert "has no file *.bracket; name the folder of a treebank with --treebank" in message
    assert "train it first" in fails(untrained, "--treebank", treebank)
    output = tmp_path / "report.json"
    output.write_text("kept", "utf-8")
    arguments = (characters, "--treebank", treebank, "-o")
    assert "add --force to replace it" in fails(*arguments, output)
    assert output.read_text("utf-8") == "kept"
    runs = treebank / "typed_runs.txt"
    assert "is an input" in fails(*arguments, runs, "--force")
    assert runs.read_text("utf-8") == RUNS
    (tmp_path / "test").mkdir()
    (tmp_path / "test/a.bracket").write_text(FIRST, "utf-8")
    (tmp_path / "typed_runs.txt").write_text("url\ta.cn\n", "utf-8")
    assert "typed_runs.txt:1: 'a.cn' marks no run" in fails(characters, "--treebank", tmp_path)
