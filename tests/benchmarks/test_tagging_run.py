"""The tagging benchmark from its command line to its report, on sentences of made-up words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.run import main
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
