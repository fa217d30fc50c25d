"""The treebank: its files, what its README says of them, and the script that checks it."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from looped import looped
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from warm_python import executable

from spacy_structreg.cli.convert import convert
from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet

TREEBANK = Path(__file__).parents[2] / "treebank"
FIRST = ("train", "dev", "test")
SECOND = tuple(f"second/{part}" for part in FIRST)
PARTS = FIRST + SECOND
REGISTERS = frozenset(
    [
        *("general", "news", "science", "law", "medicine", "computing", "sport", "novels"),
        *("wuxia", "everyday", "chat", "social", "reviews"),
    ]
)

GOOD = """\
( (IP (NP-SBJ (PN 我们))
      (VP (ADVP (AD 明天))
          (VP (VV 去)
              (NP-PN-OBJ (NR 杭州))))
      (PU 。)))
"""
ENTITY = "( (NP (NP-PN=ORG (NR 临江市) (NN 图书馆)) (NP (NN 馆长))))\n"
FLAT = "( (FLAT (NR=PERSON 李雷) (VV 来) (AS 了) (NP=DATE (NT 2024年) (NT 3月)) (PU 。)))\n"
RELATIVE = (
    "( (NP (CP (WHNP-1 (-NONE- *OP*)) (CP (IP (NP-SBJ (-NONE- *T*-1)) (VP (VV 说话))) (DEC 的))) "
    "(NP (NN 人))))\n"
)


CHECK = runpy.run_path(str(TREEBANK / "check.py"))["main"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder; UTF-8 in and out, whatever the machine's settings."""
    return subprocess.run(
        [executable(), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


@dataclass(frozen=True)
class Bracketed:
    """A sentence, read without the package: its words and tags, and what it is counted by."""

    pairs: list[tuple[str, str]]
    is_flat: bool
    n_entities: int


def sentences_of(path: Path) -> list[Bracketed]:
    """The sentences of a file. Empty categories are left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("<"))
    found, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == ")" and depth == 0:
            block, start = text[start : place + 1], place + 1
            labels = re.findall(r"\(([^() \n]+)", block)
            found.append(
                Bracketed(
                    [
                        (word.replace("-LRB-", "(").replace("-RRB-", ")"), tag.partition("=")[0])
                        for tag, word in re.findall(r"\(([^() \n]+) ([^() \n]+)\)", block)
                        if tag != "-NONE-"
                    ],
                    labels[0] == "FLAT",
                    sum("=" in label for label in labels),
                )
            )
    return found


def leaves(part: str) -> list[list[tuple[str, str]]]:
    """(word, tag) of the sentences of a part of the general register."""
    return [each.pairs for each in sentences_of(TREEBANK / f"{part}/general.bracket")]


@pytest.fixture(scope="module")
def corpus() -> dict[Path, list[Bracketed]]:
    return {
        path: sentences_of(path)
        for part in PARTS
        for path in sorted((TREEBANK / part).glob("*.bracket"))
    }


def rows(corpus: dict[Path, list[Bracketed]]) -> set[str]:
    """What a table of counts has of each file, of each part and of all."""
    groups = {f"`{path.relative_to(TREEBANK)}`": each for path, each in corpus.items()}
    for part in PARTS:
        files = [each for path, each in corpus.items() if path.parent == TREEBANK / part]
        groups[f"all of {part}"] = list(chain.from_iterable(files))
    groups["all"] = list(chain.from_iterable(corpus.values()))
    made = set()
    for name, sentences in groups.items():
        words = [word for sentence in sentences for word, _ in sentence.pairs]
        n_trees = sum(not sentence.is_flat for sentence in sentences)
        n_entities = sum(sentence.n_entities for sentence in sentences)
        counts = (len(words), len("".join(words)), len(set(words)), n_entities)
        numbers = [len(sentences), n_trees, *counts]
        made.add(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return made


def test_the_check_passes_and_counts_what_the_readme_says(corpus, capsys):
    assert CHECK([]) == 0
    assert rows(corpus) <= set(capsys.readouterr().out.splitlines())
    assert rows(corpus) <= set((TREEBANK / "README.md").read_text(encoding="utf-8").splitlines())


def test_files_are_named_by_part_and_register():
    registers = {part: {path.stem for path in (TREEBANK / part).iterdir()} for part in PARTS}
    assert [registers[part] for part in FIRST] == [REGISTERS] * 3
    assert registers["second/train"] == registers["second/dev"]
    folders = {path.parent for path in TREEBANK.rglob("*.bracket")}
    assert folders == {TREEBANK / part for part in PARTS}
    assert {path.name for path in (TREEBANK / "exceptions").iterdir()} == {
        f"{name}.txt" for name in {*REGISTERS, "second"}
    }
    text = (TREEBANK / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{register}` | " in text for register in set().union(*registers.values()))


@pytest.mark.parametrize("part", PARTS)
def test_sentences_stand_in_documents_one_a_line(part):
    for path in (TREEBANK / part).glob("*.bracket"):
        if path.stem == "general":
            continue
        name = f"{path.stem}-{Path(part).name}"
        number, sentences = 0, None
        for line in path.read_text(encoding="utf-8").splitlines():
            if line == "</DOC>":
                assert sentences, f"{name}-{number} is empty"
                # Whole documents are flat, and those of no test part.
                flat = [sentence.startswith("( (FLAT ") for sentence in sentences]
                may_be_flat = part in {"train", "second/train", "second/dev"}
                assert not any(flat) or (may_be_flat and all(flat)), f"{name}-{number}"
                sentences = None
            elif sentences is None:
                number += 1
                sentences = []
                assert line == f'<DOC id="{name}-{number:02}">'
            else:
                assert line.startswith("( (")
                assert line.endswith("))")
                sentences.append(line)
        assert sentences is None


def read(line: str) -> tuple[list[str], list[str], list[tuple[int, int, str]]]:
    """Words, tags and entities of a tree, read without the package."""
    words, tags, entities = [], [], []
    opened: list[tuple[str, int]] = []
    for symbol, word in re.findall(r"([()][^() ]*)(?: ([^() ]+))?", line):
        if symbol.startswith("("):
            opened.append((symbol[1:], len(words)))
        if word and symbol != "(-NONE-":
            words.append(word)
            tags.append(re.split("[-=]", symbol[1:])[0])
        if symbol == ")":
            label, begin = opened.pop()
            if "=" in label:
                entities.append((begin, len(words), label.split("=")[1]))
    return words, tags, sorted(entities)


@pytest.mark.parametrize("register", ["chat", "social"])
def test_convert_takes_words_tags_and_entities_and_no_tree_of_flat_sentences(register, tmp_path):
    file = TREEBANK / f"train/{register}.bracket"
    lines = [line for line in file.read_text("utf-8").splitlines() if line.startswith("(")]
    convert([file], tmp_path / "all.spacy", options=CorpusOptions(head_rules=HeadRuleSet.ctb))
    docs = DocBin().from_disk(tmp_path / "all.spacy").get_docs(Vocab())
    for line, doc in zip(lines, docs, strict=True):
        found = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        assert ([t.text for t in doc], [t.tag_ for t in doc], found) == read(line)
        assert doc.has_annotation("ENT_IOB")
        is_tree = "(FLAT" not in line
        assert doc.has_annotation("DEP") == doc.has_annotation("HEAD") == is_tree
        assert ("constituents" in doc.spans) == is_tree
    assert 0 < sum("(FLAT" in line for line in lines) < len(lines)


def test_no_sentence_is_there_twice(corpus):
    every = chain.from_iterable(corpus.values())
    texts = ["".join(word for word, _ in sentence.pairs) for sentence in every]
    assert len(set(texts)) == len(texts)


def broken(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new, 1)


FAULTS = {
    "a bracket is missing": (GOOD.rstrip()[:-1] + "\n", 1, "closing brackets are missing"),
    "a bracket too many": (GOOD.rstrip() + ")\n", 5, "a closing bracket too many"),
    "an empty leaf": (broken("(PN 我们)", "(PN )"), 1, "has only one part"),
    "a tag of another scheme": (broken("(PN 我们)", "(PRP 我们)"), 1, "'PRP'"),
    "a tag in lower case": (broken("(AD 明天)", "(ad 明天)"), 1, "'ad'"),
    "another phrase label": (broken("(ADVP ", "(AVP "), 1, "'AVP'"),
    "another functional tag": (broken("NP-SBJ", "NP-SUBJ"), 1, "'SUBJ'"),
    "another empty category": (broken("(PN 我们)", "(-NONE- *X*)"), 1, "'*X*'"),
    "a word tagged as punctuation": (broken("(AD 明天)", "(PU 明天)"), 1, "PU goes with"),
    "punctuation tagged as a word": (broken("(PU 。)", "(SP 。)"), 1, "PU goes with"),
    "no root": (broken("( (IP", "(IP").rstrip()[:-1] + "\n", 1, "brackets without a label"),
    "a question without Q": (broken("。", "？"), 1, "-Q"),
    "no subject": (broken("(NP-SBJ (PN 我们))", ""), 1, "one subject"),
    "a name without PN": (broken("NP-PN-OBJ", "NP-OBJ"), 1, "expected NP-PN"),
    "nested adjuncts": (
        "( (IP (NP-SBJ (PN 我们)) (VP (ADVP (AD 明天)) (VP (ADVP (AD 也)) (VP (VV 去))))))\n",
        1,
        "sisters",
    ),
    "a date that is no NT": (broken("(AD 明天)", "(AD 3月)"), 1, "expected NT"),
    "a number that is no CD": (broken("(NR 杭州)", "(NR 三百)"), 1, "expected CD"),
    "a trace without antecedent": (broken("WHNP-1", "WHNP", RELATIVE), 1, "on a trace only"),
    "an antecedent without trace": (broken("*T*-1", "*pro*", RELATIVE), 1, "on an antecedent only"),
    "a relative clause without operator": (
        "( (NP (CP (IP (NP-SBJ (-NONE- *pro*)) (VP (VV 说话))) (DEC 的)) (NP (NN 人))))\n",
        1,
        "CP-APP",
    ),
    "DEG after a clause": (broken("(DEC 的)", "(DEG 的)", RELATIVE), 1, "expected DNP"),
    "a short resultative in two": (
        broken("(VV 去)", "(VRD (VV 打) (VV 开))"),
        1,
        "a resultative of two characters is one VV",
    ),
    "an unknown type of entity": (broken("=ORG", "=FIRM", ENTITY), 1, "FIRM is no type of entity"),
    "an unknown type on a word": (broken("=PERSON", "=PER", FLAT), 1, "PER is no type of entity"),
    "a tag of another scheme with an entity": (broken("(NR=", "(NNP=", FLAT), 1, "'NNP=PERSON'"),
    "an entity inside of another": (
        broken("(NR 临江市)", "(NR=GPE 临江市)", ENTITY),
        1,
        "NR=GPE is an entity inside of another, ORG",
    ),
    "an entity without words": (
        broken("NP-SBJ (PN 我们)", "NP-SBJ=PERSON (-NONE- *pro*)"),
        1,
        "NP-SBJ=PERSON has no words",
    ),
    "a name without PN that is an entity": (broken("-PN=ORG", "=ORG", ENTITY), 1, "expected NP-PN"),
    "a phrase in a flat sentence": (
        broken("(VV 来)", "(VP (VV 来) (AD 了))", FLAT),
        1,
        "VP in FLAT; only entities of two words or more",
    ),
    "a phrase over an entity of one word": (
        broken("(NR=PERSON 李雷)", "(NP=PERSON (NR 李雷))", FLAT),
        1,
        "NP=PERSON in FLAT; only entities of two words or more",
    ),
    "a phrase in an entity of a flat sentence": (
        broken("(NT 3月)", "(NP (NT 3月))", FLAT),
        1,
        "NP=DATE in FLAT has phrases in it",
    ),
    "an empty category in a flat sentence": (
        broken("(VV 来)", "(-NONE- *pro*) (VV 来)", FLAT),
        1,
        "FLAT has empty categories",
    ),
    "a flat clause in a tree": (broken("(VP (ADVP", "(FLAT (ADVP"), 1, "'FLAT' is no phrase label"),
    "a flat sentence with a wrong word": (broken("(NT 3月)", "(NN 3月)", FLAT), 1, "expected NT"),
    "a sentence twice": (GOOD + "\n" + GOOD, 7, "again"),
    "one word, two tags": (
        GOOD + "\n" + broken("(AD 明天)", "(AD 杭州)"),
        1,
        "is tagged NR here; everywhere: NR 2 AD 1",
    ),
    "one word, and two": (
        GOOD + "\n" + broken("(NR 杭州)", "(NR 杭) (NR 州)"),
        7,
        "is one word elsewhere",
    ),
}


def test_the_check_accepts_what_the_faults_are_made_from_and_the_example(tmp_path, capsys):
    file = tmp_path / "good.bracket"
    documents = f'<DOC id="one">\n{FLAT}</DOC>\n<DOC id="two">\n{ENTITY}</DOC>\n'
    readme = (TREEBANK / "README.md").read_text(encoding="utf-8")
    example = readme.split("```text\n")[1].split("```")[0]
    for text, counts in ((GOOD + "\n" + RELATIVE + documents, ""), (example, "2 | 1 | 12 | 21")):
        file.write_text(text, encoding="utf-8")
        assert CHECK([str(file)]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert f"| all | {counts}" in out


@looped("fault", FAULTS)
def test_the_check_finds(fault, tmp_path, capsys):
    text, line, message = FAULTS[fault]
    file = tmp_path / "broken.bracket"
    file.write_text(text, encoding="utf-8")
    assert CHECK([str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert any(f.startswith(f"{file}:{line}: ") and message in f for f in err.splitlines()), err


def test_the_check_of_several_files(tmp_path, capsys):
    files = [tmp_path / "train.bracket", tmp_path / "test.bracket"]
    for file in files:
        file.write_text(GOOD, encoding="utf-8")
    assert CHECK(list(map(str, files))) == 1
    message = f"{files[1]}:1: the sentence of {files[0]}:1 again"
    assert capsys.readouterr().err.startswith(message)
    result = run(str(TREEBANK / "check.py"), str(tmp_path / "none.bracket"), folder=TREEBANK)
    assert result.returncode == 1
    assert "none.bracket" in result.stderr
    assert "Traceback" not in result.stderr
