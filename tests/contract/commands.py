"""Every command: a command line that does something, and a folder with what it reads.

A new command takes a line in `LINES`, and is held to all that `test_commands.py` asks.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin
from typer.main import get_command
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.models.segmentation import CharacterSegmenter

SENTENCES = [
    ["小", "王", "昨天", "在", "图书馆", "看", "书", "。"],
    ["老师", "和", "学生", "一起", "去", "公园", "！"],
    ["我们", "明天", "去", "图书馆", "吗", "？"],
    ["学生", "在", "公园", "看", "书", "，", "老师", "看", "学生", "。"],
]

# What is read is marked by <, what is written by >.
LINES = {
    "adapt": "adapt <adaptable <text.txt >a",
    "agree": "agree <c.spacy <d.spacy >o.spacy",
    "average": "average <pipeline <pipeline >a",
    "calibrate": "calibrate <pipeline <words.txt -o >a --method temperature",
    "compile-words": "compile-words <words.txt >o.words",
    "compress": "compress <pipeline >a",
    "convert": "convert <words.txt >o.spacy",
    "correct": "correct <pipeline <words.txt >a",
    "count-ngrams": "count-ngrams <text.txt >o.ngrams --workers 1",
    "draw": "draw <trees.txt -o >o.svg",
    "evaluate": "evaluate <pipeline <words.txt --output >o.json",
    "explain": "explain <pipeline 我们看书 -o >o.html",
    "fit": "fit <segment.cfg >a --train <c.spacy --dev <c.spacy",
    "info": "info <pipeline",
    "init-config": "init-config >x.cfg --task segment",
    "jackknife": "jackknife <tag.cfg <c.spacy >o.spacy -k 2",
    "keywords": "keywords <pipeline <text.txt -o >o.jsonl",
    "search": "search <segment.cfg <space.yml >a --train <c.spacy --dev <c.spacy",
    "segment": "segment <pipeline <text.txt -o >o.txt",
    "uncertain": "uncertain <pipeline <text.txt >o.partial",
}
# Those whose work is done by other processes have tests of their own for the same.
ELSEWHERE = {"annotate", "serve", "word-classes"}


def known_commands() -> set[str]:
    """All that there are."""
    return set(get_command(structreg_app).commands)  # type: ignore[attr-defined]


def options_of(command: str) -> set[str]:
    """The options of a command."""
    found = get_command(structreg_app).commands[command]  # type: ignore[attr-defined]
    return {option for parameter in found.params for option in parameter.opts}


def line_of(command: str) -> list[str]:
    """The arguments of a command."""
    return [part.lstrip("<>") for part in LINES[command].split()]


def outputs_of(command: str) -> list[str]:
    """Output of a command."""
    return [part[1:] for part in LINES[command].split() if part.startswith(">")]


def variants(command: str, mark: str, others: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Command lines with something else in place of one input (<) or output (>), and its name."""
    parts = LINES[command].split()
    for place, part in enumerate(parts):
        if part.startswith(mark):
            for other in others:
                changed = [*parts[:place], other, *parts[place + 1 :]]
                yield other, [each.lstrip("<>") for each in changed]


def make_workplace(folder: Path) -> None:
    """Fill a folder with what there is in command lines."""
    nlp = spacy.blank(
        "zh",
        config={
            "nlp": {
                "tokenizer": {
                    "@tokenizers": "spacy_structreg.Segmenter.v1",
                    "model": {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 1},
                }
            }
        },
    )
    nlp.tokenizer.model.fit(SENTENCES)
    nlp.to_disk(folder / "pipeline")
    nlp.tokenizer.model = CharacterSegmenter(epochs=1, statistics="all").fit(SENTENCES)
    nlp.to_disk(folder / "adaptable")
    docs = [
        Doc(nlp.vocab, words=words, spaces=[False] * len(words), tags=["N"] * len(words))
        for words in SENTENCES
    ]
    for name in ("c", "d"):
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    (folder / "t/test").mkdir(parents=True)
    (folder / "t/test/a.bracket").write_text("(IP (NN 狗))\n", "utf-8")
    contents: dict[str, bytes] = {
        "empty": b"",
        "empty.cfg": b"",
        "bytes": bytes(range(256)) * 4,
        "nul.cfg": b"[nlp]\0\n",
        "broken.cfg": b"[nlp\nlang=zh",
        "twice.cfg": b'[nlp]\nlang = "zh"\nlang = "en"\n',
        "variable.cfg": b"[nlp]\nlang = ${paths.x}\n",
        "short.cfg": b'[nlp]\nlang = "zh"\n',
        "list.cfg": b'[nlp]\nlang = ["zh"]\n[training]\nseed = 1\nmax_epochs = 1\n',
        "space.yml": b"settings: {training.max_epochs: {choices: [1, 2]}}\n",
        "text.txt": "我们在图书馆看书。\n".encode() * 20,
        "words.txt": "我们 在 图书馆\n".encode(),
        "trees.txt": "(IP (NP (NN 狗)) (VP (VV 走)))\n".encode(),
        "t.conllu": b"# sent_id = a-1\n1\ta\t_\t_\tN\t_\t0\troot\t_\t_\n\n",
    }
    with zipfile.ZipFile(folder / "files.zip", "w") as archive:
        archive.writestr("x", "\u4e2d\n")
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    for task in ("segment", "tag"):
        command = ["init-config", str(folder / f"{task}.cfg"), "--task", task]
        assert CliRunner().invoke(structreg_app, command).exit_code == 0
    # Trainings are to be short.
    for task in ("segment", "tag"):
        path = folder / f"{task}.cfg"
        path.write_text(
            path.read_text("utf-8").replace("max_epochs = 20", "max_epochs = 2"), "utf-8"
        )
