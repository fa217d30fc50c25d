"""The project `papers`: the checksum of a corpus covers all that runs read of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from papers_project import papers
from study_contract import PROJECTS, run

READ = """
import json, sys
from pathlib import Path
sys.path[:0] = ["scripts", ".."]
from corpora import read_corpus
for entry in json.load(sys.stdin):
    print(read_corpus("lines", entry, Path("data")).checksum)
"""

WORDS = [["我们", "在", "学校", "读书"], ["他", "来", "了"], ["天", "冷"], ["她", "走", "了"]]
CONLLU = """\
1\t我们\t_\tPRON\tPN\t_\t2\tnsubj\t_\t_
2\t读书\t_\tVERB\tVV\t_\t0\troot\t_\t_
3\t了\t_\tPART\tSP\t_\t2\tdiscourse\t_\t_

"""
BRACKETS = "( (IP (NP (PN 我们)) (VP (VV 读) (NP (NN 书)))) )\n"
COLUMNS = "我们 PN O\n去 VV O\n北京 NR B-LOC\n\n"
TEXTS = "".join(f"{kind}\t这 是 第 {i} 句\n" for i in range(8) for kind in ("a", "b"))
SIGNALS = {"world": 1, "train": 2, "dev": 2, "test": 2, "windows": 4, "samples": 3}


def lines(*sentences: list[str]) -> str:
    return "".join("  ".join(words) + "\n" for words in sentences)


# Of each corpus another one that differs in one thing alone.
FILES = {
    "train.txt": lines(*WORDS[:3]),
    "test.txt": lines(*WORDS[3:]),
    # The same sentences in the same order, cut elsewhere.
    "shorter.txt": lines(*WORDS[:2]),
    "longer.txt": lines(*WORDS[2:]),
    "words.txt": lines(*WORDS[:2], ["天冷"]),
    "tree.conllu": CONLLU,
    "head.conllu": CONLLU.replace("\t2\tdiscourse", "\t1\tdiscourse"),
    "relation.conllu": CONLLU.replace("discourse", "mark"),
    "pos.conllu": CONLLU.replace("PRON", "NOUN"),
    "tag.conllu": CONLLU.replace("PN", "NN"),
    "phrases.bracket": BRACKETS,
    "label.bracket": BRACKETS.replace("NP (NN", "QP (NN"),
    "flat.bracket": BRACKETS.replace("(VP (VV 读) (NP (NN 书)))", "(VP (VV 读) (NN 书))"),
    "names.conll": COLUMNS,
    "kind.conll": COLUMNS.replace("LOC", "ORG"),
    "texts.tsv": TEXTS,
    "category.tsv": TEXTS.replace("b\t这 是 第 7", "a\t这 是 第 7"),
}
THREE = {"dev": "test.txt", "test": "test.txt"}
PLAIN = {**THREE, "train": "train.txt"}
CUT = {"columns": "category,text", "whole": "texts.tsv", "draws": 2}
HALVES = {"train": 2, "dev": 1, "test": 1}
ENTRIES: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "other words": {**THREE, "train": "words.txt"},
    "cut elsewhere": {"train": "shorter.txt", "dev": "test.txt", "test": "longer.txt"},
    "cut elsewhere, too": {"train": "train.txt", "dev": "test.txt", "test": "longer.txt"},
    "parts that have changed places": {**PLAIN, "train": "test.txt", "test": "train.txt"},
    "a further part": {**PLAIN, "web": "test.txt", "scored": ["test", "web"]},
    "learned once more": {**PLAIN, "refit": True},
    "punctuation": {**PLAIN, "punctuation": "PU"},
    **{
        name: {"head_rules": "ctb", "train": name, "dev": name, "test": name}
        for name in FILES
        if name.endswith(".bracket")
    },
    **{
        name: {"train": name, "dev": name, "test": name}
        for name in FILES
        if name.endswith(".conllu")
    },
    **{
        name: {"columns": "word,tag,label", "train": name, "dev": name, "test": name}
        for name in FILES
        if name.endswith(".conll")
    },
    "drawn": {**CUT, "shares": HALVES},
    "drawn by other shares": {**CUT, "shares": {**HALVES, "train": 3}},
    "drawn once": {**CUT, "shares": HALVES, "draws": 1},
    "drawn, another category": {**CUT, "shares": HALVES, "whole": "category.tsv"},
    "folds": {**CUT, "folds": 4},
    "fewer folds": {**CUT, "folds": 3},
    "signals": {"signals": SIGNALS},
    "another world": {"signals": {**SIGNALS, "world": 2}},
    "other samples": {"signals": {**SIGNALS, "samples": 4}},
}
SAME = {
    # In two files, which are read as one.
    "plain": {**PLAIN, "train": ["shorter.txt", {"path": "train.txt", "from": 2}]},
    "drawn": {**CUT, "shares": HALVES, "whole": {"path": "texts.tsv", "to": 100}},
}


@pytest.mark.slow
def test_a_checksum_tells_corpora_apart_that_differ_in_one_thing(tmp_path: Path) -> None:
    project = papers("").copied(tmp_path)
    # Signals are drawn by scripts of another project.
    (tmp_path / "activity_recognition").symlink_to(PROJECTS / "activity_recognition")
    (project / "data").mkdir()
    for name, text in FILES.items():
        (project / "data" / name).write_text(text, encoding="utf-8")
    entries = [*ENTRIES.values(), *SAME.values()]
    done = run("-c", READ, folder=project, text=json.dumps(entries))
    assert done.returncode == 0, done.stderr
    checksums = done.stdout.split()
    found = dict(zip(ENTRIES, checksums[: len(ENTRIES)], strict=True))
    by_checksum: dict[str, list[str]] = {}
    for name, checksum in found.items():
        by_checksum.setdefault(checksum, []).append(name)
    assert [names for names in by_checksum.values() if len(names) > 1] == []
    assert checksums[len(ENTRIES) :] == [found[name] for name in SAME]
