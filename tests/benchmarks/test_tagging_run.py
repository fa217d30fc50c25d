"""The tagging benchmark from its command line to its report, on sentences of made-up words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.run import main
from benchmarks.common.worker import Worker
from benchmarks.tagging.systems import Ltp, SpacyTagger, Udpipe
from benchmarks.tagging.task import TAGGING, Tagged, read_sentences
from spacy_structreg.models.tagging import Tagger

# A slash is a tag of its own in treebanks, and a part of words.
LEXICON = {
    **dict.fromkeys(("海鸥", "渔船", "灯塔", "码头", "贝壳", "船长"), "NN"),
    **dict.fromkeys(("飞过", "望着", "离开", "照亮", "找到"), "VV"),
    **dict.fromkeys(("一", "三", "1/2"), "CD"),
    **dict.fromkeys(("只", "条"), "M"),
    "。": "PU",
    "/": "/",
}


def made_up(n_sentences: int, seed: int) -> list[Tagged]:
    generator = random.Random(seed)
    words = list(LEXICON)
    return [
        [(word, LEXICON[word]) for word in generator.choices(words, k=generator.randint(3, 10))]
        for _ in range(n_sentences)
    ]


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    paths = {}
    for seed, (part, size) in enumerate({"train": 60, "dev": 20, "test": 20}.items()):
        paths[part] = folder / f"{part}.conllu"
        TAGGING.write(paths[part], made_up(size, seed))
    return paths


def test_what_is_written_is_read_again(parts: dict[str, Path]) -> None:
    assert read_sentences(parts["dev"]) == made_up(20, 1)


def test_only_tagged_sentences_are_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("渔船 离开 码头\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no tags; take a corpus that is tagged"):
        read_sentences(path)
    path.write_text("渔船_NN 离开_VV\n", encoding="utf-8")
    assert read_sentences(path) == [[("渔船", "NN"), ("离开", "VV")]]


@pytest.mark.slow
def test_a_run_scores_and_times_every_system_that_is_installed(
    parts: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [f"--{part}={path}" for part, path in parts.items()]
    status = main(TAGGING, [*given, "--quick", f"--output={tmp_path / 'output'}"])
    path = tmp_path / "output" / "tagging-harbour.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    results = {result["name"]: result for result in data["results"]}
    assert {name: result["error"] for name, result in results.items()} == dict.fromkeys(
        ("ours", "ours-greedy", "udpipe", "ltp", "spacy")
    )
    assert status == 0
    # The average of five is only made when it is asked for.
    assert "ours-averaged" not in results

    # The figures are those of the same training without the harness.
    tagger = Tagger().fit(read_sentences(parts["train"]), read_sentences(parts["dev"]))
    test = read_sentences(parts["test"])
    assert results["ours"]["scores"]["tag_acc"] == tagger.evaluate(test).tag_acc

    markdown = capsys.readouterr().out
    for system in (Udpipe, Ltp, SpacyTagger):
        result = results[system.name]
        if system.version() is None:
            assert result["version"] is None
            assert f"| {system.title} | not installed: pip install" in markdown
            continue
        # Every word has one tag, and sixty sentences have all words: tags that are off by one, or
        # not those of the treebank, would show.
        assert result["scores"]["tag_acc"] > 0.9, system.name
        assert len(result["one"]) == 2
        assert not result["differing"]
        assert result["model_bytes"] > 0
        assert result["ours_times_faster"]["one"] > 0
    n_words = sum(map(len, test))
    assert data["units a sentence"] == n_words / len(test)


@pytest.mark.skipif(Ltp.version() is None, reason="ltp-extension is not installed")
def test_slashes_are_tags_and_words_to_ltp(parts: dict[str, Path], tmp_path: Path) -> None:
    model = tmp_path / "model"
    with Worker(Ltp, None, tmp_path) as worker:
        worker.train({"epoch": 5}, parts["train"], parts["dev"], model)
        assert worker.load(model)
        words = [["1/2", "条", "渔船", "/", "海鸥"]]
        for batch in (False, True):
            assert worker.predict(words, batch=batch) == [["CD", "M", "NN", "/", "NN"]]


@pytest.mark.slow
def test_a_limit_is_of_every_part(
    parts: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [f"--{part}={path}" for part, path in parts.items()]
    assert main(TAGGING, [*given, "--quick", "--limit=15", "--systems=ours-greedy"]) == 0
    markdown = capsys.readouterr().out
    assert "train sentences: 15; development sentences: 15; test sentences: 15" in markdown
    assert "the first 15, 15 and 15 sentences only" in markdown
    with pytest.raises(SystemExit):
        main(TAGGING, [*given, "--limit=0"])
