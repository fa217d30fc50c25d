"""`structreg count-ngrams`, and what takes its counts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.tasks.knowledge.ngrams import count_ngrams, read_ngrams
from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

RAW = ["这麒麟好", "那麒麟在", "看麒麟。有麒麟吃", "大麒麟书", "麒麟很多"]
WORDS = [["红", "苹果", "好吃", "。"], ["他", "在", "图书馆", "看", "书"]]
VIEW = CharacterAtoms(None, True).normalization()


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(structreg_app, list(map(str, arguments)))
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command wrote of two files, one of them compressed."""
    folder = tmp_path_factory.mktemp("counts")
    (folder / "a.txt").write_text("\n".join(RAW[:2]), encoding="utf-8")
    with gzip.open(folder / "b.txt.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join(RAW[2:]))
    output = folder / "out" / "raw.ngrams"
    code, said = run("count-ngrams", folder / "*.txt*", output, "--workers", 1)
    assert (code, said.partition(", and")[0]) == (0, "Counted 24 characters")
    assert [path.name for path in output.parent.iterdir()] == ["raw.ngrams"]
    return output


def arrays(source: StatisticsSource) -> dict[str, list[int]]:
    return {name: array.tolist() for name, array in source.contents()[1].items()}


def statistics(model: CharacterSegmenter) -> StatisticsSource:
    (source,) = model._fitted_spec().atoms.sources
    assert isinstance(source, StatisticsSource)
    return source


def test_counts_are_those_of_one_process(counts: Path) -> None:
    expected = count_ngrams(RAW, view=VIEW)
    found = read_ngrams(counts, VIEW)
    assert found.ngrams.tolist() == expected.ngrams.tolist()
    assert found.left.tolist() == expected.left.tolist()
    assert found.right.tolist() == expected.right.tolist()


def test_trainings_read_them_in_place_of_text(counts: Path, tmp_path: Path) -> None:
    settings = {"epochs": 1, "statistics": "all"}
    model = CharacterSegmenter(raw_text=[str(counts)], **settings).fit(WORDS)
    alone = CharacterSegmenter(**settings).fit(WORDS)
    raw = StatisticsSource.of(count_ngrams(RAW, view=VIEW), True)
    assert arrays(statistics(model)) == arrays(statistics(alone).joined(raw))
    adapted = alone.adapt([], counts=[counts], together=False)
    assert arrays(statistics(adapted)) == arrays(raw)
    other = CharacterSegmenter(raw_text=[str(counts)], half_width=False, **settings)
    with pytest.raises(ValueError, match="unlike the settings of this model"):
        other.fit(WORDS)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["a.csv", "o"], "a.csv"),
        (["empty.txt", "o"], "no text in the files"),
        (["a.jsonl", "o", "--max-bad", "1"], "2 records cannot be read"),
    ],
)
def test_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("a", encoding="utf-8")
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    Path("a.jsonl").write_text('{"text": "a"}\n{}\n{"text": 1}\n', encoding="utf-8")
    code, said = run("count-ngrams", *arguments, "--workers", "1")
    assert code == 1
    assert fault in said
    assert len(said) < 400
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.jsonl", "empty.txt"]
