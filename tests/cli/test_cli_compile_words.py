"""`structreg compile-words`: what it writes, and what a tokenizer makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.tasks.segmentation.user_words import UserWords


def run(*arguments: object) -> str:
    result = CliRunner().invoke(structreg_app, ["compile-words", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), {}),
        (("--mode", "prefer"), {"mode": "prefer"}),
        (("--bonus", "2.5"), {"bonus": 2.5}),
        (("--mode", "bonus", "--bonus", "-1"), {"bonus": -1.0}),
    ],
)
def test_a_compiled_list_is_the_list(tmp_path: Path, options: tuple, settings: dict) -> None:
    words, more, output = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "new" / "o.words"
    words.write_text("北京大学\tNR\nNew York\n", encoding="gb18030")
    more.write_text("New York\tNS\n", encoding="gb18030")
    said = run(words, more, output, "--encoding", "gb18030", *options)
    assert said == f"Wrote 2 words to {output}\n"
    expected = UserWords([("北京大学", "NR"), ("New York", "NS")], **settings)
    assert UserWords().read(output) == expected
    listed = UserWords()
    assert listed.load(output) == 2
    assert listed == expected
    # Once more, together with another list.
    more.write_text("大学\n", encoding="utf-8")
    run(output, more, tmp_path / "p.words")
    expected.add("大学")
    assert UserWords().read(tmp_path / "p.words") == expected


@pytest.mark.parametrize(
    ("options", "tags"),
    [((), (None, None)), (("--tags", "ctb"), ("NR", "NN")), (("--tags", "pfr"), ("nr", "n"))],
)
def test_tags_of_dictionaries_are_those_of_the_model(
    tmp_path: Path, options: tuple[str, ...], tags: tuple[str | None, ...]
) -> None:
    words, output = tmp_path / "userdict.txt", tmp_path / "o.words"
    words.write_text("李小福 2 nr\n云计算 5 n\n", encoding="utf-8")
    run(words, output, *options)
    assert UserWords().read(output) == UserWords(zip(("李小福", "云计算"), tags, strict=True))
