"""The workflows of the projects that label and classify, on small corpora that are made up here."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from test_projects import (
    ABSOLUTE,
    MADE,
    PROJECTS,
    beyond_documentation,
    copy_of,
    run,
    run_project,
    write,
)
from thinc.api import Config

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.files import read_lines

NAMES = (
    "bio_ner",
    "chinese_ner",
    "chunking",
    "conll2002_ner",
    "pos_across_genres",
    "text_classification",
)
LABELER, MODEL = ("components", "sequence_labeler"), ("components", "sequence_labeler", "model")
# Of each config, the task and the language that `init-config` is given, and what is changed then.
CONFIGS: dict[str, tuple[str, str, dict[tuple[str, ...], Any]]] = {
    "bio_ner/configs/label.cfg": ("label", "en", {(*MODEL, "templates"): "bio"}),
    "chinese_ner/configs/label-resume.cfg": ("label", "zh", {}),
    "chinese_ner/configs/label-weibo.cfg": ("label", "zh", {}),
    "chunking/configs/label.cfg": ("chunk", "en", {(*MODEL, "templates"): "chunking-rich"}),
    "conll2002_ner/configs/label-esp.cfg": ("label", "es", {(*MODEL, "templates"): "ner+edges"}),
    "conll2002_ner/configs/label-ned.cfg": ("label", "nl", {}),
    "pos_across_genres/configs/label.cfg": (
        "label",
        "en",
        {
            (*LABELER, "attribute"): "tag",
            (*MODEL, "templates"): "pos-rich",
            (*MODEL, "scheme"): None,
            **{("training", "score_weights", key): None for key in ("ents_f", "ents_p", "ents_r")},
            ("training", "score_weights", "label_acc"): 1.0,
        },
    ),
    "text_classification/configs/classify.cfg": (
        "classify",
        "en",
        {("components", "textcat", "model", "ngrams"): 2},
    ),
}

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


def spans_of(doc: Doc, key: str | None) -> set[tuple[int, int, str]]:
    spans = doc.ents if key is None else doc.spans[key]
    return {(span.start, span.end, span.label_) for span in spans}


def words_of(nlp: Any, doc: Doc, *, tags: bool) -> Doc:
    given = [token.tag_ for token in doc] if tags else None
    spaces = [bool(token.whitespace_) for token in doc]
    return nlp(Doc(nlp.vocab, words=[token.text for token in doc], spaces=spaces, tags=given))


def check_spans(
    folder: Path, workflow: str, test: Path, *, tags: bool = False, key: str | None = None
) -> None:
    """Figures that were written are those of the pipeline on the gold words."""
    nlp = spacy.load(folder / f"training/{workflow}/model-best")
    n_gold = n_found = n_right = 0
    for doc in gold_docs(folder / test):
        gold, found = (spans_of(each, key) for each in (doc, words_of(nlp, doc, tags=tags)))
        n_gold, n_found, n_right = (
            n_gold + len(gold),
            n_found + len(found),
            n_right + len(gold & found),
        )
    report = json.loads((folder / f"metrics/{workflow}.json").read_text("utf-8"))
    assert report["ents_p"] == pytest.approx(n_right / n_found)
    assert report["ents_r"] == pytest.approx(n_right / n_gold)
    assert report["ents_f"] == pytest.approx(2 * n_right / (n_gold + n_found))
    assert n_gold > 30
    # A few patterns and names are learned almost wholly.
    assert report["ents_f"] > 0.9


def taken_over(docs: Iterable[Doc], corpus: Iterable[Sentence], key: str | None = None) -> bool:
    """Whether Docs have the words and the spans of sentences."""
    for doc, sentence in zip(docs, corpus, strict=True):
        labels = []
        for i, token in enumerate(doc):
            label = next(
                (
                    f"{'B' if i == begin else 'I'}-{name}"
                    for begin, end, name in spans_of(doc, key)
                    if begin <= i < end
                ),
                "O",
            )
            labels.append((token.text, label))
        if labels != [(word, label) for word, _, label in sentence]:
            return False
    return True


@pytest.mark.slow
def test_biomedical_names(made: Path, tmp_path: Path) -> None:
    folder = copy_of("bio_ner", tmp_path)
    run_project(folder, "all", data=made)
    train = sentences("latin", 0, 120)
    held_out = [*range(30, 40), *range(70, 80)]
    rest = [s for i, s in enumerate(train) if i not in held_out]
    assert taken_over(gold_docs(folder / "corpus/train.spacy"), rest)
    assert taken_over(gold_docs(folder / "corpus/dev.spacy"), [train[i] for i in held_out])
    assert taken_over(gold_docs(folder / "corpus/test.spacy"), sentences("latin", 2, 30))
    check_spans(folder, "label", Path("corpus/test.spacy"))
    assert (folder / "metrics/label/dev.json").is_file()


@pytest.mark.slow
def test_chinese_names(made: Path, tmp_path: Path) -> None:
    folder = copy_of("chinese_ner", tmp_path)
    run_project(folder, "all", data=made)
    for corpus in ("weibo", "resume"):
        for seed, (part, n) in enumerate((("train", 120), ("dev", 30), ("test", 30))):
            docs = gold_docs(folder / f"corpus/{corpus}/{part}.spacy")
            assert taken_over(docs, sentences("han", seed, n))
            assert not any(token.whitespace_ for doc in docs for token in doc)
        check_spans(folder, f"label-{corpus}", Path(f"corpus/{corpus}/test.spacy"))
    # Of text, too: its characters are the tokens.
    nlp = spacy.load(folder / "training/label-resume/model-best")
    assert [(e.text, e.label_) for e in nlp("李河在白石镇唱歌").ents] == [
        ("李河", "X"),
        ("白石镇", "Y"),
    ]


@pytest.mark.slow
def test_chunks(made: Path, tmp_path: Path) -> None:
    folder = copy_of("chunking", tmp_path)
    run_project(folder, "all", data=made)
    train = sentences("latin", 0, 120)
    for part, expected in (("train", train[:108]), ("dev", train[108:]), ("all", train)):
        assert taken_over(gold_docs(folder / f"corpus/{part}.spacy"), expected, "chunks")
    check_spans(folder, "label", Path("corpus/test.spacy"), tags=True, key="chunks")
    epochs = json.loads((folder / "metrics/label/epochs.json").read_text("utf-8"))
    assert epochs["epochs_on_all"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("language", ["esp", "ned"])
def test_names_of_two_languages(language: str, made: Path, tmp_path: Path) -> None:
    folder = copy_of("conll2002_ner", tmp_path)
    run_project(folder, f"label-{language}", data=made)
    docs = gold_docs(folder / f"corpus/{language}/train.spacy")
    assert taken_over(docs, sentences("latin", 0, 120))
    assert [token.tag_ for token in docs[0]] == [tag for _, tag, _ in sentences("latin", 0, 1)[0]]
    test = Path(f"corpus/{language}/test.spacy")
    check_spans(folder, f"label-{language}", test, tags=True)
    nlp = spacy.load(folder / f"training/label-{language}/model-best")
    assert nlp.lang == {"esp": "es", "ned": "nl"}[language]


@pytest.mark.slow
def test_tags_across_genres(made: Path, tmp_path: Path) -> None:
    folder = copy_of("pos_across_genres", tmp_path)
    run_project(folder, "all", data=made)
    n = {part: len(gold_docs(folder / f"corpus/{part}.spacy")) for part in ("train", "dev", "test")}
    assert n == {"train": 3 * 120, "dev": 3 * 30, "test": 2 * 60}
    seen = {token.text for doc in gold_docs(folder / "corpus/train.spacy") for token in doc}
    assert {"(web)", "(new)", "(ema)"} <= seen
    assert not {"(ans)", "(rev)"} & seen
    unlabeled = {t.text for d in gold_docs(folder / "corpus/unlabeled.spacy") for t in d}
    assert {"(ans)", "(rev)"} <= unlabeled
    assert not {"(web)", "(new)", "(ema)"} & unlabeled

    for pipeline, metrics in (
        ("model-best", "label.json"),
        *(
            (name, f"label/{name}/test.json")
            for name in ("l2", "noise", "unlabeled", "transductive")
        ),
    ):
        nlp = spacy.load(folder / "training/label" / pipeline)
        pairs = [
            (token.tag_, found.tag_)
            for doc in gold_docs(folder / "corpus/test.spacy")
            for token, found in zip(doc, words_of(nlp, doc, tags=False), strict=True)
        ]
        report = json.loads((folder / "metrics" / metrics).read_text("utf-8"))
        assert report["label_acc"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
        assert report["label_acc"] > 0.7
        learning = nlp.get_pipe("sequence_labeler").estimator.learning
        assert (learning.noise == "none") == (pipeline == "l2")


@pytest.mark.slow
def test_genres_of_sentences(made: Path, tmp_path: Path) -> None:
    folder = copy_of("text_classification", tmp_path)
    run_project(folder, "all", data=made)
    docs = gold_docs(folder / "corpus/test.spacy")
    assert [next(iter(doc.cats)) for doc in docs] == [g for g in GENRES for _ in range(30)]
    for pipeline, metrics in (
        ("model-best", "classify.json"),
        *((name, f"classify/{name}/test.json") for name in ("l2", "transductive")),
    ):
        nlp = spacy.load(folder / "training/classify" / pipeline)
        found = [nlp(doc.text).cats for doc in docs]
        right = sum(
            max(cats, key=lambda category: cats[category]) in doc.cats
            for cats, doc in zip(found, docs, strict=True)
        )
        report = json.loads((folder / "metrics" / metrics).read_text("utf-8"))
        assert report["cats_acc"] == pytest.approx(right / len(docs))
        # Four of five sentences bear a word of their genre.
        assert report["cats_acc"] > 0.7


# ---- configs, scripts, READMEs ----


def with_changes(config: Config, changes: dict[tuple[str, ...], Any]) -> Config:
    for path, value in changes.items():
        section: Any = config
        for name in path[:-1]:
            section = section[name]
        assert path[-1] in section
        section[path[-1]] = value
    return config


@pytest.mark.parametrize("path", CONFIGS)
def test_the_configs_are_what_init_config_gives_with_some_changes(path: str) -> None:
    task, lang, changes = CONFIGS[path]
    given = Config().from_str(init_config(None, task=task, lang=lang), interpolate=False)
    kept = Config().from_disk(PROJECTS / path, interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == with_changes(given, changes), "see the README of the project"


@pytest.mark.parametrize("name", [*NAMES, "activity_recognition"])
def test_the_readme_documents_the_project(name: str, tmp_path: Path) -> None:
    assert "## What was measured" in beyond_documentation(name, tmp_path)
    for path in (PROJECTS / name).rglob("*"):
        if path.suffix in (".cfg", ".md", ".py", ".yml") and MADE[0] not in path.parts:
            for number, line in read_lines(path):
                assert not ABSOLUTE.search(line), f"{path}:{number}"


@pytest.mark.parametrize("name", NAMES)
def test_missing_data_are_named(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path)
    result = run(folder, "-m", "spacy", "project", "run", "all", data=tmp_path)
    assert result.returncode != 0
    assert "is missing: run 'python -m spacy project assets'" in result.stderr
    assert "Traceback" not in result.stderr
