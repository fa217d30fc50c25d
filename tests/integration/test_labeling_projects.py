"""The workflows of the projects that label and classify, on small corpora that are made up here."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import spacy
from project_runs import copy_of, report_of, run_project, write
from spacy.tokens import Doc, DocBin

from spacy_structreg.corpora.labeling import labels_of

# Of UD English EWT, in the order of its development and its test set.
GENRES = ("weblog", "email", "newsgroup", "answers", "reviews")

Token = tuple[str, str, str]
Sentence = list[Token]

# ---- corpora ----

LATIN = (
    [("Old", "JJ", "O"), ("NAME", "NNP", "X"), ("met", "VBD", "O"), ("NAME", "NNP", "X")],
    [("NAME", "NNP", "X"), ("went", "VBD", "O"), ("to", "IN", "O"), ("PLACE", "NNP", "Y")],
    [("In", "IN", "O"), ("PLACE", "NNP", "Y"), ("they", "PRP", "O"), ("sang", "VBD", "O")],
    [("They", "PRP", "O"), ("left", "VBD", "O"), ("PLACE", "NNP", "Y"), (".", ".", "O")],
)
HAN = (
    [("昨天", "NT", "O"), ("NAME", "NR", "X"), ("去了", "VV", "O"), ("PLACE", "NR", "Y")],
    [("NAME", "NR", "X"), ("在", "P", "O"), ("PLACE", "NR", "Y"), ("唱歌", "VV", "O")],
)
FILLINGS = {
    "latin": {
        "NAME": [["Ann", "Vale"], ["Tom"], ["Rosa", "May", "Stone"], ["Ines"], ["Otto", "Brook"]],
        "PLACE": [["Redford"], ["Upper", "Marsh"], ["Sandby"], ["Low", "Elm", "Hill"]],
    },
    "han": {
        "NAME": [[*"张小兰"], [*"李河"], [*"王大山"], [*"赵月"]],
        "PLACE": [[*"临江市"], [*"河东"], [*"白石镇"]],
    },
}


def sentences(
    script: str, seed: int, n: int, names: tuple[str, str] = ("X", "Y")
) -> list[Sentence]:
    """Sentences by patterns, their names in BIO by these labels; each character of Han a token."""
    rng = random.Random(seed)
    patterns = LATIN if script == "latin" else HAN
    made = []
    for _ in range(n):
        sentence: Sentence = []
        for word, tag, label in rng.choice(patterns):
            if label == "O":
                words = [word] if script == "latin" else [*word]
                sentence += [(each, tag, "O") for each in words]
                continue
            name = names["XY".index(label)]
            words = rng.choice(FILLINGS[script][word])
            for place, each in enumerate(words):
                sentence.append((each, tag, f"{'I' if place else 'B'}-{name}"))
        made.append(sentence)
    return made


def columns_of(corpus: Iterable[Sentence], row: Callable[[Token], str], before: str = "") -> str:
    return before + "\n".join("".join(row(t) + "\n" for t in s) for s in corpus) + "\n"


def bmes(sentence: Sentence) -> Sentence:
    """The same sentence with labels in BMES."""
    labels = [label for *_, label in sentence]
    turned = []
    for (word, tag, label), after in zip(sentence, [*labels[1:], "O"], strict=True):
        prefix, _, name = label.partition("-")
        goes_on = after == f"I-{name}"
        letter = {("B", True): "B", ("B", False): "S", ("I", True): "M", ("I", False): "E"}
        turned.append((word, tag, label if not name else f"{letter[prefix, goes_on]}-{name}"))
    return turned


def treebank(part: str, seed: int, per_genre: int) -> str:
    """CoNLL-U of all genres, each of which has a word of its own."""
    rng = random.Random(seed)
    blocks = []
    for name in GENRES:
        for number, sentence in enumerate(sentences("latin", seed, per_genre)):
            rows = [*sentence, (f"({name[:3]})" if rng.random() < 0.8 else "well", "UH", "O")]
            lines = [
                f"{i}\t{word}\t_\t_\t{tag}\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
                for i, (word, tag, _) in enumerate(rows, 1)
            ]
            blocks.append(f"# sent_id = {name}-{part}-{number}\n" + "".join(lines))
    return "\n".join(blocks) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of corpora in the forms of those of the projects."""
    folder = tmp_path_factory.mktemp("labeled")
    sizes = {"train": 120, "dev": 30, "test": 30}
    latin = {p: sentences("latin", seed, n) for seed, (p, n) in enumerate(sizes.items())}
    han = {p: sentences("han", seed, n) for seed, (p, n) in enumerate(sizes.items())}

    def pair(token: Token) -> str:
        return f"{token[0]}\t{token[2]}"

    def three(token: Token) -> str:
        return " ".join(token)

    abstracts = [latin["train"][i : i + 10] for i in range(0, 120, 10)]
    texts = [columns_of(a, pair, f"###MEDLINE:{100 + i}\n\n") for i, a in enumerate(abstracts)]
    write(folder / "jnlpba/train.approx.iob2.xz", "\n".join(texts))
    write(folder / "jnlpba/devel.ids", "103\n107\n")
    write(folder / "jnlpba/test.iob2", columns_of(latin["test"], pair, "###MEDLINE:200\n\n"))
    for part, size in sizes.items():
        weibo = columns_of(han[part], lambda t: f"{t[0]}0\t{t[2]}")
        write(folder / f"weibo-ner/weiboNER_2nd_conll.{part}", weibo)
        resume = columns_of(map(bmes, han[part]), lambda t: f"{t[0]} {t[2]}")
        write(folder / f"resume-ner/{part}.char.bmes", resume)
        write(folder / f"ud-english-ewt/en_ewt-ud-{part}.conllu", treebank(part, 7, size))
    for part in ("train", "test"):
        write(folder / f"conll2000/{part}.txt", columns_of(latin[part], three))
    for part, file in (("train", "train"), ("dev", "testa"), ("test", "testb")):
        write(folder / f"conll2002/esp.{file}", columns_of(latin[part], three))
        documents = columns_of(latin[part], three, "-DOCSTART- -DOCSTART- O\n")
        write(folder / f"conll2002/ned.{file}", documents)
    return folder


# ---- workflows ----


def gold_docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.Vocab()))


def words_and_labels(path: Path, key: str | None = None) -> list[list[tuple[str, str]]]:
    """The words of Docs with their labels, as columns have them."""
    found = []
    for doc in gold_docs(path):
        spans = doc.ents if key is None else doc.spans[key]
        labels = labels_of([(span.start, span.end, span.label_) for span in spans], len(doc))
        found.append([(token.text, label) for token, label in zip(doc, labels, strict=True)])
    return found


def without_tags(corpus: Iterable[Sentence]) -> list[list[tuple[str, str]]]:
    return [[(word, label) for word, _, label in sentence] for sentence in corpus]


def done(name: str, made: Path, tmp_path: Path, workflow: str = "all") -> Path:
    """A copy of a project after a workflow."""
    folder = copy_of(name, tmp_path)
    run_project(folder, workflow, data=made)
    return folder


@pytest.mark.slow
def test_biomedical_names(made: Path, tmp_path: Path) -> None:
    folder = done("bio_ner", made, tmp_path)
    train = without_tags(sentences("latin", 0, 120))
    held_out = [*range(30, 40), *range(70, 80)]
    parts = {
        "train": [s for i, s in enumerate(train) if i not in held_out],
        "dev": [train[i] for i in held_out],
        "test": without_tags(sentences("latin", 2, 30)),
    }
    for part, expected in parts.items():
        assert words_and_labels(folder / f"corpus/{part}.spacy") == expected
    # A few patterns and names are learned almost wholly.
    assert report_of(folder, "label.json")["ents_f"] > 0.9
    assert report_of(folder, "label/dev.json")["ents_f"] > 0.9


@pytest.mark.slow
def test_chinese_names(made: Path, tmp_path: Path) -> None:
    folder = done("chinese_ner", made, tmp_path)
    for corpus in ("weibo", "resume"):
        for seed, (part, n) in enumerate((("train", 120), ("dev", 30), ("test", 30))):
            path = folder / f"corpus/{corpus}/{part}.spacy"
            assert words_and_labels(path) == without_tags(sentences("han", seed, n))
            assert not any(token.whitespace_ for doc in gold_docs(path) for token in doc)
        assert report_of(folder, f"label-{corpus}.json")["ents_f"] > 0.9
    # Of text, too: its characters are the tokens.
    nlp = spacy.load(folder / "training/label-resume/model-best")
    assert [(e.text, e.label_) for e in nlp("李河在白石镇唱歌").ents] == [
        ("李河", "X"),
        ("白石镇", "Y"),
    ]


@pytest.mark.slow
def test_chunks(made: Path, tmp_path: Path) -> None:
    folder = done("chunking", made, tmp_path)
    train = without_tags(sentences("latin", 0, 120))
    for part, expected in (("train", train[:108]), ("dev", train[108:]), ("all", train)):
        assert words_and_labels(folder / f"corpus/{part}.spacy", "chunks") == expected
    assert report_of(folder, "label.json")["given"] == "words,tags"
    assert report_of(folder, "label.json")["ents_f"] > 0.9
    assert report_of(folder, "label/epochs.json")["epochs_on_all"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("language", "lang"), [("esp", "es"), ("ned", "nl")])
def test_names_of_two_languages(language: str, lang: str, made: Path, tmp_path: Path) -> None:
    folder = done("conll2002_ner", made, tmp_path, f"label-{language}")
    train = folder / f"corpus/{language}/train.spacy"
    assert words_and_labels(train) == without_tags(sentences("latin", 0, 120))
    tags = [token.tag_ for token in gold_docs(train)[0]]
    assert tags == [tag for _, tag, _ in sentences("latin", 0, 1)[0]]
    assert report_of(folder, f"label-{language}.json")["ents_f"] > 0.9
    assert spacy.load(folder / f"training/label-{language}/model-best").lang == lang


@pytest.mark.slow
def test_tags_across_genres(made: Path, tmp_path: Path) -> None:
    folder = done("pos_across_genres", made, tmp_path)
    words = {
        part: {t.text for doc in gold_docs(folder / f"corpus/{part}.spacy") for t in doc}
        for part in ("train", "unlabeled")
    }
    marks = {"train": {"(web)", "(new)", "(ema)"}, "unlabeled": {"(ans)", "(rev)"}}
    assert {part: words[part] & set().union(*marks.values()) for part in words} == marks
    n = {part: len(gold_docs(folder / f"corpus/{part}.spacy")) for part in ("train", "dev", "test")}
    assert n == {"train": 3 * 120, "dev": 3 * 30, "test": 2 * 60}
    assert report_of(folder, "label.json")["label_acc"] > 0.7
    for name in ("l2", "noise", "unlabeled", "transductive"):
        assert report_of(folder, f"label/{name}/test.json")["label_acc"] > 0.7
        nlp = spacy.load(folder / "training/label" / name)
        learning = nlp.get_pipe("sequence_labeler").estimator.learning
        assert (learning.noise == "none") == (name == "l2")


@pytest.mark.slow
def test_genres_of_sentences(made: Path, tmp_path: Path) -> None:
    folder = done("text_classification", made, tmp_path)
    docs = gold_docs(folder / "corpus/test.spacy")
    assert [next(iter(doc.cats)) for doc in docs] == [g for g in GENRES for _ in range(30)]
    for metrics in ("classify", "classify/l2/test", "classify/transductive/test"):
        # Four of five sentences bear a word of their genre.
        assert report_of(folder, f"{metrics}.json")["cats_acc"] > 0.7
