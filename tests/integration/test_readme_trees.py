"""The commands of the README's sections on trees, as they stand, on the quickstart's treebank."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app

ROOT = Path(__file__).parents[2]
TREEBANK = ROOT / "projects/quickstart/assets/treebank"
# Trees of each part.
PARTS = {"train": 200, "dev": 20, "test": 20}
STRUCTREG = ["python", "-m", "spacy", "structreg"]
# Little is learnt, in seconds; what is learnt by more is shown elsewhere.
SETTINGS = {"fit": ["--training.max_epochs", "2"]}
SETTINGS["jackknife"] = ["--folds", "2", *SETTINGS["fit"]]
TEXT = "昨天，市政府召开了会议。我们在北京学习语言。"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def extensions() -> Iterator[None]:
    """Each test begins without extensions, and leaves those that there were."""
    before = Underscore.get_state()
    Underscore.load_state(({}, {}, {}))
    yield
    Underscore.load_state(before)


def commands(section: str) -> list[list[str]]:
    """The commands of a section of the README, without what starts all of them."""
    text = (ROOT / "README.md").read_text("utf-8")
    text = re.split(rf"^### {section}$", text, flags=re.M)[1].split("\n### ")[0]
    found = []
    for line in "".join(re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S)).splitlines():
        words = shlex.split(line, comments=True)
        assert words[:4] == STRUCTREG
        found.append(words[4:])
        if "the same for dev and test" in line:
            found += [
                [word.replace("train", part) for word in words[4:]] for part in ("dev", "test")
            ]
    return found


def run(*arguments: str) -> None:
    result = CliRunner().invoke(structreg_app, [*arguments, *SETTINGS.get(arguments[0], [])])
    assert result.exit_code == 0, (arguments, result.output, result.exception)


def read(section: str) -> Language:
    """The pipeline that the commands of a section end in, from a treebank in both formats."""
    for part, n_trees in PARTS.items():
        lines = (TREEBANK / f"{part}.bracket").read_text("utf-8").splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if line.startswith("(")]
        Path(f"{part}.bracket").write_text("".join(lines[: starts[n_trees]]), "utf-8")
        run("convert", f"{part}.bracket", f"{part}.conllu", "--head-rules", "ctb")
    Path("text.txt").write_text(TEXT + "\n", "utf-8")
    for arguments in commands(section):
        run(*arguments)
    output = next(words[2] for words in reversed(commands(section)) if words[0] == "fit")
    return spacy.load(output)


def check_words(doc: Doc) -> None:
    """Words, with tags, and not characters; warnings, of which this would give one, are errors."""
    assert doc.text == TEXT
    assert sum(len(token) > 1 for token in doc) >= 4
    assert all(token.tag_ for token in doc)


def test_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nlp = read("Trees")
    doc = nlp(TEXT)
    check_words(doc)
    assert all(token.dep_ for token in doc)
    assert len(list(doc.sents)) == 2
    assert nlp.pipe_names == ["tagger", "parser"]
    # The tokenizer and the tagger are those that were trained first.
    for folder, place in (("segmenter", "tokenizer"), ("tagger", "tagger")):
        here, there = Path("parser", place, "model.srt"), Path(folder, place, "model.srt")
        assert here.read_bytes() == there.read_bytes()


def test_phrase_structure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nlp = read("Phrase structure")
    doc = nlp(TEXT)
    check_words(doc)
    first, second = doc.sents
    assert first._.parse_string.startswith("(")
    assert "北京" in second._.parse_string
    assert doc._.constituents
    # Of the tokenizer that tags, with its rules for universal tags.
    assert nlp.pipe_names == ["attribute_ruler", "constituency"]
    assert all(token.pos_ for token in doc)
    assert {"trees.html", "joint"} <= {path.name for path in tmp_path.iterdir()}
