"""The workflows of the projects that parse, on treebanks made from that of the quickstart."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from packages import installed_tokens
from spacy.tokens import Doc, DocBin
from test_projects import PROJECTS, copy_of, finish, made, run_project, variables
from thinc.api import Config

from spacy_structreg.cli.init_config import init_config

LANGUAGES = {"ptb_sample": "en", "ud_chinese": "zh", "ud_english": "en"}
CORPORA = {"ptb_sample": "corpus/10"}
FEW = ("--vars.folds", "2", "--vars.parsers", "1")

# Sentences by which a tiny English treebank is made: word or class, tag, universal tag, head,
# relation; a word in front of "+" is joined to the next one in the text.
CLASSES = {
    "NOUN": ("bird", "cat", "dog", "fox", "tree"),
    "VERB": ("finds", "likes", "sees", "wants"),
    "BARE": ("find", "like", "see", "want"),
    "DET": ("a", "the"),
}
STATED = (
    "The DT DET 2 det, NOUN NN NOUN 3 nsubj, VERB VBZ VERB 0 root, DET DT DET 5 det, "
    "NOUN+ NN NOUN 3 obj, . . PUNCT 3 punct"
)
DENIED = (
    "It PRP PRON 4 nsubj, does+ VBZ AUX 4 aux, n't RB PART 4 advmod, BARE VB VERB 0 root, "
    "DET DT DET 6 det, NOUN+ NN NOUN 4 obj, ! . PUNCT 4 punct"
)

Gold = list[tuple[list[str], list[int], list[str]]]
# Fixtures of the tests of projects.
__all__ = ["finish", "made"]


@pytest.fixture(scope="module")
def finished(
    finish: Callable[[str], Path],
    made: tuple[Path, object],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """Makes a copy of a project after its last workflow that parses."""
    folders: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in folders:
            root = tmp_path_factory.mktemp("parsed")
            if name == "ud_chinese":
                # Most is done: by `all`.
                folder = shutil.copytree(finish(name).parent, root / "copy") / name
                workflows, few = ("parse", "parse-gold", "raw"), variables(name)
            else:
                folder = copy_of(name, root)
                workflows, few = ("parse", "parse-gold"), FEW
            for workflow in workflows:
                run_project(folder, workflow, *few, data=made[0])
            folders[name] = folder
        return folders[name]

    return make


def gold_of(path: Path) -> Gold:
    docs = DocBin().from_disk(path).get_docs(spacy.Vocab())
    return [
        ([token.text for token in doc], [token.head.i for token in doc], [t.dep_ for t in doc])
        for doc in docs
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_parse_trains_on_jackknifed_tags(name: str, finished: Callable[[str], Path]) -> None:
    folder = finished(name)
    corpus = folder / CORPORA.get(name, "corpus")
    tagged, source = (
        list(DocBin().from_disk(corpus / file).get_docs(spacy.Vocab()))
        for file in ("train-jackknifed.spacy", "train.spacy")
    )
    pairs = [(a, b) for x, y in zip(tagged, source, strict=True) for a, b in zip(x, y, strict=True)]
    assert all((a.text, a.head.i, a.dep_) == (b.text, b.head.i, b.dep_) for a, b in pairs)
    assert 0.5 < sum(a.tag_ == b.tag_ for a, b in pairs) / len(pairs) < 1

    # The figures are those of the pipeline on gold words.
    nlp = spacy.load(folder / "training/parse/model-best")
    assert nlp.lang == LANGUAGES[name]
    n_words = n_heads = n_labels = 0
    for words, heads, deps in gold_of(corpus / "test.spacy"):
        doc = nlp(Doc(nlp.vocab, words=words, spaces=[False] * len(words)))
        for token, head, dep in zip(doc, heads, deps, strict=True):
            n_words += 1
            n_heads += token.head.i == head
            n_labels += (token.head.i, token.dep_) == (head, dep)
    report = json.loads((folder / "metrics/parse.json").read_text("utf-8"))
    assert report["given"] == "words"
    assert report["dep_uas"] == pytest.approx(n_heads / n_words)
    assert report["dep_las"] == pytest.approx(n_labels / n_words)
    assert report["dep_las"] > 0.6
    gold_tags = json.loads((folder / "metrics/parse/gold-tags.json").read_text("utf-8"))
    assert gold_tags["given"] == "words,tags"
    assert gold_tags["dep_las"] > 0.6
    assert spacy.load(folder / "training/parse-gold/model-best").pipe_names == ["parser"]
    assert (folder / "metrics/parse/dev.json").is_file()


@pytest.mark.slow
def test_raw_ends_with_a_package(finished: Callable[[str], Path], tmp_path: Path) -> None:
    folder = finished("ud_chinese")
    report = json.loads((folder / "metrics/raw.json").read_text("utf-8"))
    assert report["given"] == "text"
    assert 0.5 < report["las_f"] <= report["uas_f"] < report["seg_f"] < 1
    assert report["tag_f"] < report["seg_f"]
    package = folder / "packages/zh_gsd_structreg-0.1.0"
    meta = json.loads((package / "meta.json").read_text("utf-8"))
    assert meta["license"] == "CC BY-SA 4.0"
    assert meta["performance"]["las_f"] == pytest.approx(report["las_f"])
    assert meta["pipeline"] == ["tagger", "attribute_ruler", "parser"]
    readme = (package / "README.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in readme
    assert f"{100 * report['las_f']:.2f}" in readme

    text = "今天上午，临江市图书馆正式开放。学生和老师都来了！"
    tokens = installed_tokens(package, "zh_gsd_structreg", text, tmp_path)
    assert "".join(token[0] for token in tokens) == text
    assert all(tag and dep for _, tag, _, dep, _, _ in tokens)
    # Each sentence has a tree.
    assert [dep for _, _, _, dep, _, _ in tokens].count("ROOT") == 2
    assert sum(starts for *_, starts in tokens) == 2


def english_treebank(path: Path, n_sentences: int, *, seed: int) -> None:
    """Write a treebank of sentences of two kinds, with the spaces of their text."""
    draw = random.Random(seed)
    blocks = []
    for _ in range(n_sentences):
        rows = []
        for i, row in enumerate(draw.choice((STATED, DENIED)).split(", "), start=1):
            name, tag, pos, head, relation = row.split()
            word = draw.choice(CLASSES.get(name.rstrip("+"), (name.rstrip("+"),)))
            misc = "SpaceAfter=No" if name.endswith("+") else "_"
            rows.append(f"{i}\t{word}\t_\t{pos}\t{tag}\t_\t{head}\t{relation}\t_\t{misc}\n")
        blocks.append("".join(rows))
    path.write_text("\n".join(blocks) + "\n", "utf-8")


@pytest.mark.slow
def test_raw_english_ends_with_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is downloaded: without an index, the wheel is built by what is here.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    data = tmp_path / "data/ud-english-ewt"
    data.mkdir(parents=True)
    for seed, (part, size) in enumerate((("train", 200), ("dev", 40), ("test", 40))):
        english_treebank(data / f"en_ewt-ud-{part}.conllu", size, seed=seed)
    folder = copy_of("ud_english", tmp_path)
    run_project(folder, "raw", "--vars.folds", "2", data=data.parent)

    report = json.loads((folder / "metrics/raw.json").read_text("utf-8"))
    assert report["given"] == "text"
    # spaCy's tokenizer cuts this text as the treebank does, if it gets the spaces.
    assert report["seg_f"] == 1
    assert 0.95 < report["las_f"] <= report["uas_f"] <= 1
    assert 0.95 < report["tag_f"] <= 1
    package = folder / "packages/en_ewt_structreg-0.1.0"
    meta = json.loads((package / "meta.json").read_text("utf-8"))
    assert (meta["license"], meta["version"]) == ("CC BY-SA 4.0", "0.1.0")
    assert [source["name"] for source in meta["sources"]] == ["UD English EWT"]
    assert meta["performance"]["las_f"] == pytest.approx(report["las_f"])
    assert meta["pipeline"] == ["sentencizer", "tagger", "attribute_ruler", "parser"]

    (wheel,) = (package / "dist").glob("*.whl")
    text = "The dog sees a cat. It doesn't like the tree!"
    tokens = installed_tokens(wheel, "en_ewt_structreg", text, tmp_path)
    # As in the treebank; but the table of universal tags takes forms of "do" for verbs.
    assert tokens == [
        ["The", "DT", "DET", "det", 1, True],
        ["dog", "NN", "NOUN", "nsubj", 2, False],
        ["sees", "VBZ", "VERB", "ROOT", 2, False],
        ["a", "DT", "DET", "det", 4, False],
        ["cat", "NN", "NOUN", "obj", 2, False],
        [".", ".", "PUNCT", "punct", 2, False],
        ["It", "PRP", "PRON", "nsubj", 9, True],
        ["does", "VBZ", "VERB", "aux", 9, False],
        ["n't", "RB", "PART", "advmod", 9, False],
        ["like", "VB", "VERB", "ROOT", 9, False],
        ["the", "DT", "DET", "det", 11, False],
        ["tree", "NN", "NOUN", "obj", 9, False],
        ["!", ".", "PUNCT", "punct", 9, False],
    ]


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_configs_are_what_init_config_gives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lang, base = LANGUAGES[name], "training/tag/model-best"
    monkeypatch.chdir(tmp_path)
    nlp = spacy.blank(lang)
    nlp.add_pipe("structreg_tagger", name="tagger")
    Path(base).mkdir(parents=True)
    nlp.to_disk(base)
    given = Config().from_str(
        init_config(None, task="parse", lang=lang, base=base), interpolate=False
    )
    kept = Config().from_disk(PROJECTS / name / "configs/parse.cfg", interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == given, "make the config anew: see the README of the project"


def test_the_pipeline_of_raw_text_has_the_tokenizer_that_is_trained_for_it() -> None:
    configs = PROJECTS / "ud_chinese/configs"
    text = init_config(None, task="joint", tag_map="none")
    given = Config().from_str(text, interpolate=False)
    guided = Config().from_disk(configs / "guided.cfg", interpolate=False)
    raw = Config().from_disk(configs / "raw.cfg", interpolate=False)
    assert raw["nlp"]["tokenizer"] == guided["nlp"]["tokenizer"]
    # The ruler of raw.cfg, behind a tagger, is taken from there.
    assert guided["nlp"]["pipeline"].pop() == "attribute_ruler"
    del (
        guided["components"]["attribute_ruler"],
        guided["initialize"]["components"]["attribute_ruler"],
    )
    # In all else, it is trained as any other.
    for config in (given, guided):
        del config["nlp"]["tokenizer"]["model"]
        for name in ("eval_frequency", "patience"):
            config["training"].pop(name)
    assert guided == given
