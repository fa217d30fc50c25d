"""The projects of the corpora: their workflows on a slice, their configs, scripts and READMEs.

The slices are made from the treebank of the quickstart, in the form of each corpus, or taken from
the corpora themselves where STRUCTREG_DATA names their folder.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import spacy
from looped import looped
from sighan_release import SENTENCES, release_files, write_archive
from test_quickstart import spans
from test_treebank import TREEBANK, leaves
from thinc.api import Config
from universal_tags import universal_tag
from warm_python import executable
from weasel.cli.document import project_document

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.head_rules import HeadRuleName

PROJECTS = Path(__file__).parents[2] / "projects"
NAMES = ("people_daily", "sighan2005", "sxu", "ud_chinese")
# Of joint taggers, with the tables of universal tags of their configs.
TAG_MAPS = {
    "people_daily": "pfr",
    "quickstart": "ctb",
    "ud_chinese": "ud_chinese",
    "zhuxian": "ctb",
}
LANGUAGES = {**dict.fromkeys([*TAG_MAPS, "sinica"], "zh"), "ptb_sample": "en", "ud_english": "en"}
MADE = ("assets", "corpus", "metrics", "project.lock", "training")
# Of the project whose `all` ends with a package.
PACKAGES = "packages"
PARTS = ("train", "dev", "test")
# Days of the month of the usual split of January 1998.
DAYS = {"train": range(1, 25), "dev": range(25, 28), "test": range(28, 32)}
FIGURES = ("seg_p", "seg_r", "seg_f", "oov_rate", "oov_r", "iv_r")
VARIABLE = "STRUCTREG_DATA"
# Not the path of an address such as https://host/path, nor a slash between words.
ABSOLUTE = re.compile(r"(?:^|[\s\"'`(=])(?:/[A-Za-z]|[A-Z]:\\)")

Tagged = list[list[tuple[str, str]]]
Words = list[list[str]]
# The training set, of which the vocabulary is, and the test set.
Gold = tuple[Words, Words]


def run(
    folder: Path, *arguments: str, data: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder, with a folder of corpora or none."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment["PYTHONUTF8"] = "1"
    if data is not None:
        environment[VARIABLE] = str(data)
    return subprocess.run(
        [executable(), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def run_project(folder: Path, workflow: str, *variables: str, data: Path | None) -> str:
    """Run a workflow that must succeed; returns what it printed."""
    arguments = ("-m", "spacy", "project", "run", workflow, ".", *variables)
    result = run(folder, *arguments, data=data)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def copy_of(name: str, folder: Path, *, epochs: int = 6) -> Path:
    """A copy of a project as it is kept, but for its trainings, which end sooner."""
    target = folder / name
    # The assets of the quickstart are its own.
    ignored = [made for made in (*MADE, PACKAGES) if (name, made) != ("quickstart", "assets")]
    shutil.copytree(PROJECTS / name, target, ignore=shutil.ignore_patterns(*ignored, "__pycache__"))
    # What projects share lies beside them.
    for shared in ("scripts", "studies"):
        shutil.copytree(PROJECTS / shared, folder / shared, dirs_exist_ok=True)
    project = target / "project.yml"
    text = project.read_text("utf-8")
    project.write_text(text.replace("../../treebank", TREEBANK.as_posix()), "utf-8")
    for path in (target / "configs").glob("*.cfg"):
        text = path.read_text("utf-8")
        path.write_text(text.replace("max_epochs = 20\n", f"max_epochs = {epochs}\n"), "utf-8")
    return target


def copy_systems(folder: Path, *, epochs: int = 2) -> None:
    """Copies of the configs of the papers, for projects in a folder; trainings end sooner."""
    target = folder / "papers/systems"
    target.mkdir(parents=True)
    for path in (PROJECTS / "papers/systems").glob("*.cfg"):
        text = re.sub(r"max_epochs = \d+", f"max_epochs = {epochs}", path.read_text("utf-8"))
        (target / path.name).write_text(text, "utf-8")


def words_of(sentences: Iterable[Iterable[tuple[str, str]]]) -> Words:
    return [[word for word, _ in sentence] for sentence in sentences]


# ---- slices ----


def conllu_of(sentences: Tagged) -> str:
    """CoNLL-U without SpaceAfter, as the treebank of UD 1 is; each word hangs on the next."""
    blocks = []
    for sentence in sentences:
        rows = []
        for i, (word, tag) in enumerate(sentence, start=1):
            head, relation = (i + 1, "dep") if i < len(sentence) else (0, "root")
            rows.append(f"{i}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
        blocks.append("".join(rows))
    return "\n".join(blocks) + "\n"


def pfr_of(corpus: dict[str, Tagged]) -> str:
    """Paragraphs, those of each part on its days in turn; the first two words are a compound."""
    lines = []
    for part, sentences in corpus.items():
        days = DAYS[part]
        for number, sentence in enumerate(sentences):
            tokens = [f"{word}/{tag}" for word, tag in sentence]
            if len(tokens) > 1:
                tokens[0] = "[" + tokens[0]
                tokens[1] += "]nt"
            day = days[number % len(days)]
            lines.append("  ".join([f"199801{day:02}-01-001-{number + 1:03}/m", *tokens]) + "\n")
    return "\n".join(lines)


def whole_treebank(rules: HeadRuleName) -> list[ConstituencySentence]:
    """All trees of the general register, with heads by these rules."""
    return [tree for part in PARTS for tree in constituency_sentences(bracket_file(part), rules)]


def bracket_file(part: str) -> Path:
    return TREEBANK / f"{part}/general.bracket"


def sinica_of(tree: ConstituencySentence) -> str:
    """A line of the Sinica Treebank: a part that has the head word of its phrase is its head."""

    def role(above: Constituent, head: int) -> str:
        return "Head" if head == above.head else "x"

    # What is written for a phrase, and behind it: the first word of a phrase begins a part.
    opening: dict[int, str] = {}
    closing: dict[int, str] = {}
    for phrase, parent in zip(tree.constituents, tree.parents(), strict=True):
        above = None if parent is None else tree.constituents[parent]
        name = phrase.label if above is None else f"{role(above, phrase.head)}:{phrase.label}"
        opening[phrase.begin] = opening.get(phrase.begin, "") + f"{name}("
        closing[phrase.end - 1] = closing.get(phrase.end - 1, "") + ")"
    parts = []
    for place, (word, tag) in enumerate(zip(tree.words, tree.tags, strict=True)):
        around = [each for each in tree.constituents if each.begin <= place < each.end]
        part = f"{role(around[-1], place)}:{tag}:{word}"
        parts.append(opening.get(place, "") + part + closing.get(place, ""))
    return f"#1:1.[0] {'|'.join(parts)}#。(PERIODCATEGORY)\n"


def tagged_of(sentences: Tagged) -> str:
    return "".join(" ".join(f"{word}_{tag}" for word, tag in s) + "\n" for s in sentences)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Gold]]:
    """A folder of corpora made from the treebank of the quickstart, and what is in them."""
    folder = tmp_path_factory.mktemp("made")
    corpus = {part: leaves(part) for part in PARTS}
    train, dev, test = (words_of(corpus[part]) for part in PARTS)

    write(folder / "ud-chinese-gsd-simplified/train.conll.xz", conllu_of(corpus["train"]))
    for part in ("dev", "test"):
        write(folder / f"ud-chinese-gsd-simplified/{part}.conll", conllu_of(corpus[part]))
    write(folder / "pfr-199801/199801.txt.xz", pfr_of(corpus))
    for part in PARTS:
        write(folder / f"zhuxian/{part}.wordpos", tagged_of(corpus[part]))
        write(folder / f"ud-english-ewt/en_ewt-ud-{part}.conllu", conllu_of(corpus[part]))
    brackets = "\n".join(bracket_file(part).read_text("utf-8") for part in PARTS)
    write(folder / "ptb-sample/combined.mrg", brackets)
    write(folder / "sinica-treebank/parsed.xz", "".join(map(sinica_of, whole_treebank("ctb"))))
    both = train + dev
    write(folder / "sxu/train.txt.xz", "".join("  ".join(words) + "\n" for words in both))
    write(folder / "sxu/test.txt", "".join("  ".join(words) + "\n" for words in test))
    # The treebank is in simplified script, which two of the original encodings do not have.
    release = {**SENTENCES, "msr": (both, test), "pku": (both, test)}
    (folder / "sighan2005").mkdir()
    write_archive(folder / "sighan2005/icwb2-data.zip", release_files(release))
    gold: dict[str, Gold] = {
        "ud_chinese": (train, test),
        "people_daily": (train, test),
        "zhuxian": (train, test),
        "sxu": (both, test),
        "sighan2005": (both, test),
    }
    return folder, gold


# ---- workflows ----


def check_figures(folder: Path, pipeline: str, metrics: str, gold: Gold) -> None:
    """Figures that were written are those of the pipeline on the gold words."""
    train, test = gold
    nlp = spacy.load(folder / pipeline)
    segmented = [[token.text for token in nlp("".join(words))] for words in test]
    assert list(map("".join, segmented)) == list(map("".join, test))
    correct = sum(len(spans(g) & spans(s)) for g, s in zip(test, segmented, strict=True))
    n_gold, n_found = sum(map(len, test)), sum(map(len, segmented))
    known = {word for words in train for word in words}
    n_unknown = sum(word not in known for words in test for word in words)

    report = json.loads((folder / metrics).read_text("utf-8"))
    assert all(0 < report[key] < 1 for key in FIGURES)
    assert report["seg_p"] == pytest.approx(correct / n_found)
    assert report["seg_r"] == pytest.approx(correct / n_gold)
    assert report["seg_f"] == pytest.approx(2 * correct / (n_found + n_gold))
    assert report["oov_rate"] == pytest.approx(n_unknown / n_gold)
    # It has learned something: each character a word is a good deal worse.
    characters = [list("".join(words)) for words in test]
    right = sum(len(spans(g) & spans(c)) for g, c in zip(test, characters, strict=True))
    assert report["seg_f"] > 2 * right / (n_gold + sum(map(len, characters))) + 0.2


def variables(name: str) -> tuple[str, ...]:
    """As few models and folds as show that the steps of a project go together."""
    few = ("--vars.folds", "2", "--vars.parsers", "1", "--vars.guided_models", "1")
    return ("--vars.models", "2", *(few if name == "ud_chinese" else ()))


@pytest.fixture(scope="session")
def finish(
    made_once: Callable[..., Path], made: tuple[Path, dict[str, Gold]]
) -> Callable[[str], Path]:
    """Gives a copy of a project after `all` on the corpora made from the treebank: to be read."""

    def make(name: str) -> Path:
        def fill(folder: Path) -> None:
            run_project(copy_of(name, folder, epochs=3), "all", *variables(name), data=made[0])

        return made_once(f"project-{name}", fill) / name

    return make


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_trains_a_segmenter_and_an_average(name, finish, made):
    folder = finish(name)
    gold = made[1][name]
    check_figures(folder, "training/segment/model-best", "metrics/segment.json", gold)
    average = "metrics/segment/average/"
    check_figures(folder, "training/average/model-best", f"{average}test.json", gold)

    report = json.loads((folder / average / "epochs.json").read_text("utf-8"))
    assert report["seeds"] == [0, 1]
    assert len(report["dev_epochs"]) == len(report["dev_seg_f"]) == 2
    assert all(1 <= epoch <= 20 for epoch in report["dev_epochs"])
    assert all(0 < f < 1 for f in report["dev_seg_f"])
    single = spacy.load(folder / "training/segment/model-best").tokenizer.model
    averaged = spacy.load(folder / "training/average/model-best").tokenizer.model
    assert single.learning.algorithm == "pa_i"
    assert averaged.learning.algorithm == "perceptron"

    if name in ("sighan2005", "sxu"):
        # Trained on all, for as many epochs as were best without the held-out tenth.
        train, _ = gold
        for path, model in (("segment/", single), ("segment/average/", averaged)):
            report = json.loads((folder / "metrics" / path / "epochs.json").read_text("utf-8"))
            best = report["dev_epochs"]
            assert report["epochs_on_all"] == round(sum(best) / len(best))
            again = model.untrained()
            again.epochs, again.n_models, again.seed = report["epochs_on_all"], len(best), 0
            assert again.fit(train).corpus_checksum == model.corpus_checksum
            assert again.predict_batch(map("".join, train)) == model.predict_batch(
                map("".join, train)
            )
    else:
        dev = json.loads((folder / "metrics/segment/dev.json").read_text("utf-8"))
        assert 0 < dev["seg_f"] < 1
        assert (folder / average / "dev.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_writes_to_its_own_folders_only(name, finish):
    folder = finish(name)
    new = {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*")
        if path.is_file() and not (PROJECTS / name / path.relative_to(folder)).exists()
    }
    assert new == {*MADE, *([PACKAGES] if name == "ud_chinese" else [])}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_second_run_has_nothing_to_train(name, finish, made, tmp_path):
    folder = shutil.copytree(finish(name).parent, tmp_path / "copy") / name
    # The corpus is there now, and the folder is not needed any more.
    for data in (made[0], None):
        printed = run_project(folder, "all", *variables(name), data=data)
        for command in ("convert", "train-segment", "train-average", "evaluate-average"):
            assert f"Skipping '{command}'" in printed


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes one copy of each project, so that its workflows convert the corpus but once."""
    folders: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in folders:
            folders[name] = copy_of(name, tmp_path_factory.mktemp("tagged"), epochs=3)
        return folders[name]

    return make


def docs_of(path: Path) -> Iterable[spacy.tokens.Doc]:
    return spacy.tokens.DocBin().from_disk(path).get_docs(spacy.Vocab())


def tagged_spans(pairs: Iterable[tuple[str, str]]) -> set[tuple[int, int, str]]:
    words, tags = zip(*pairs, strict=True)
    places = sorted(spans(list(words)))
    return {(start, end, tag) for (start, end), tag in zip(places, tags, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("name", TAG_MAPS)
def test_joint_trains_a_tokenizer_that_tags(name, converted, made):
    folder = converted(name)
    run_project(folder, "joint", data=made[0])
    gold = leaves("test")
    nlp = spacy.load(folder / "training/joint/model-best")
    docs = [nlp("".join(word for word, _ in sentence)) for sentence in gold]
    found = [[(token.text, token.tag_) for token in doc] for doc in docs]
    n_gold, n_found = sum(map(len, gold)), sum(map(len, found))
    pairs = list(zip(gold, found, strict=True))
    correct = sum(len(tagged_spans(g) & tagged_spans(f)) for g, f in pairs)
    bounded = sum(
        len(spans([word for word, _ in g]) & spans([word for word, _ in f])) for g, f in pairs
    )

    report = json.loads((folder / "metrics/joint.json").read_text("utf-8"))
    assert report["given"] == "text"
    assert report["joint_p"] == pytest.approx(correct / n_found)
    assert report["joint_r"] == pytest.approx(correct / n_gold)
    assert report["joint_f"] == pytest.approx(2 * correct / (n_found + n_gold))
    assert report["seg_f"] == pytest.approx(2 * bounded / (n_found + n_gold))
    assert 0.7 < report["joint_f"] < report["seg_f"] < 0.98
    # Universal tags follow from those of the corpus, where the table has these.
    for doc in docs:
        for token in doc:
            assert token.pos_ == (universal_tag(TAG_MAPS[name], token.tag_, token.text) or "")
    # The corpora made here have tags of CTB, none of which is one of PFR.
    assert any(token.pos_ for doc in docs for token in doc) == (name != "people_daily")
    assert not (folder / "training/segment").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_tag_trains_a_tagger_of_gold_words(name, converted, made):
    folder = converted(name)
    run_project(folder, "tag", data=made[0])
    train, test = leaves("train"), leaves("test")
    if name == "ptb_sample":
        # The last of ten folds, and all but the one before it.
        trees = [sentence for part in PARTS for sentence in leaves(part)]
        place = folder / "corpus/10"
        train, test = (
            [[(word.text, word.tag_) for word in doc] for doc in docs_of(place / f"{part}.spacy")]
            for part in ("train", "test")
        )
        assert test == trees[-len(test) :]
        assert train == trees[: len(train)]
    elif name == "sinica":
        trees = [sentence for part in PARTS for sentence in leaves(part)]
        train, test = trees[: len(trees) * 80 // 100], trees[len(trees) * 90 // 100 :]
    nlp = spacy.load(folder / "training/tag/model-best")
    assert nlp.lang == LANGUAGES[name]
    n_words = n_right = n_known = n_known_right = 0
    known = {word for sentence in train for word, _ in sentence}
    for sentence in test:
        words = [word for word, _ in sentence]
        doc = nlp(spacy.tokens.Doc(nlp.vocab, words=words, spaces=[False] * len(words)))
        for token, (word, tag) in zip(doc, sentence, strict=True):
            n_words += 1
            n_right += token.tag_ == tag
            n_known += word in known
            n_known_right += word in known and token.tag_ == tag

    report = json.loads((folder / "metrics/tag.json").read_text("utf-8"))
    assert report["given"] == "words"
    assert report["tag_acc"] == pytest.approx(n_right / n_words)
    assert report["iv_tag_acc"] == pytest.approx(n_known_right / n_known)
    # NN for every word would be right in less than half of them. Configs for large corpora keep a
    # model of few steps here, as they evaluate seldom; those for English read this Chinese text by
    # templates for alphabetic scripts.
    assert 0.6 < report["tag_acc"] < 1
    assert not (folder / "training/segment").exists()


@pytest.mark.slow
def test_compounds_of_people_daily_can_be_merged(made, tmp_path):
    folder = copy_of("people_daily", tmp_path)
    run_project(folder, "data", data=made[0])
    run_project(folder, "convert", "--vars.compounds", "merged", data=None)
    test = [["".join(words[:2]), *words[2:]] for words in made[1]["people_daily"][1]]
    docs = spacy.tokens.DocBin().from_disk(folder / "corpus/test.spacy").get_docs(spacy.Vocab())
    assert [[token.text for token in doc] for doc in docs] == test


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["as", "cityu"])
def test_sighan_in_the_original_encodings(corpus, made, tmp_path):
    folder = copy_of("sighan2005", tmp_path)
    encoding = {"as": "cp950", "cityu": "big5hkscs"}[corpus]
    options = ("--vars.corpus", corpus, "--vars.encoding", encoding)
    run_project(folder, "segment", *options, data=made[0])
    report = json.loads((folder / "metrics/segment.json").read_text("utf-8"))
    training, test = SENTENCES[corpus]
    assert report["part"] == f"{corpus}/test"
    counts = report["counts"]["segmentation"]
    assert counts["gold"] == sum(map(len, test))
    known = {word for words in training for word in words}
    assert counts["oov"] == sum(word not in known for words in test for word in words)
    assert (folder / "corpus" / corpus / "all.spacy").is_file()


@pytest.mark.slow
def test_the_segmenter_of_zhang_and_clark_on_both_bakeoffs(made, tmp_path):
    folder = copy_of("sighan2005", tmp_path)
    copy_systems(tmp_path, epochs=3)
    run_project(folder, "zc11", data=made[0])
    train, test = made[1]["sighan2005"]
    check_figures(folder, "training/zc11/model-best", "metrics/zc11.json", (train, test))
    first = folder / "assets/sighan2003"
    first.mkdir(parents=True)
    for name, sentences in (("train", train), ("testref", test)):
        text = "".join("  ".join(words) + "\r\n" for words in sentences)
        (first / f"pk-{name}.txt").write_bytes(text.encode("gb18030"))
    run_project(folder, "zc11-first", "--vars.characters", "false", data=None)
    pipeline = "training/zc11-first/model-best"
    check_figures(folder, pipeline, "metrics/zc11-first.json", (train, test))
    for path, characters in (("training/zc11/model-best", True), (pipeline, False)):
        settings = spacy.load(folder / path).tokenizer.model.settings
        assert (settings.beam, settings.update, settings.characters) == (16, "early", characters)


# ---- configs, scripts, READMEs ----


@pytest.mark.parametrize("name", NAMES)
def test_the_config_is_what_init_config_gives(name):
    given = Config().from_str(init_config(None, task="segment"), interpolate=False)
    kept = Config().from_disk(PROJECTS / name / "configs/segment.cfg", interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == given, "make the config anew: see the README of the project"


@looped(
    ("name", "task"),
    [("zhuxian", "segment"), *((n, "joint") for n in TAG_MAPS), *((n, "tag") for n in LANGUAGES)],
)
def test_the_configs_of_tags_are_what_init_config_gives(name, task):
    tag_map = TAG_MAPS[name] if task == "joint" else None
    text = init_config(None, task=task, lang=LANGUAGES[name], tag_map=tag_map)
    given = Config().from_str(text, interpolate=False)
    if (name, task) == ("quickstart", "joint"):
        given["nlp"]["tokenizer"]["model"]["lexicon"] = ["corpus/words.txt"]
    kept = Config().from_disk(PROJECTS / name / f"configs/{task}.cfg", interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == given, "make the config anew: see the README of the project"


def beyond_documentation(name, folder):
    """What the README of a project says besides what spaCy makes of the project file."""
    # Away from the project: it links assets that happen to be there.
    shutil.copy(PROJECTS / name / "project.yml", folder)
    output = folder / "README.md"
    project_document(folder, output)
    marks = ("<!-- WEASEL: AUTO-GENERATED DOCS START", "<!-- WEASEL: AUTO-GENERATED DOCS END")
    kept = (PROJECTS / name / "README.md").read_text("utf-8")
    fresh = output.read_text("utf-8")
    sections = [text[text.index(marks[0]) : text.index(marks[1])] for text in (kept, fresh)]
    assert sections[0] == sections[1], (
        "run: python -m spacy project document --output README.md, without assets"
    )
    return kept.partition(marks[1])[2]


@pytest.mark.parametrize("name", sorted({*NAMES, *LANGUAGES, "ctb5"}))
def test_the_readme_documents_the_project(name, tmp_path):
    beyond = beyond_documentation(name, tmp_path)
    # And there is more in it: what was measured.
    if name in NAMES:
        assert "test F |" in beyond


@looped("name", sorted({*NAMES, *LANGUAGES, "ctb5"}))
def test_no_path_is_of_one_machine(name):
    for path in (PROJECTS / name).rglob("*"):
        if path.suffix in (".cfg", ".md", ".py", ".yml") and MADE[0] not in path.parts:
            for number, line in read_lines(path):
                # Paths that are made up from a form are of no machine.
                assert "{a}" in line or not ABSOLUTE.search(line), f"{path}:{number}"


@pytest.mark.parametrize("name", [*NAMES, "zhuxian"])
def test_missing_data_are_named(name, tmp_path):
    folder = copy_of(name, tmp_path)
    for data in (None, tmp_path):
        result = run(folder, "-m", "spacy", "project", "run", "all", data=data)
        assert result.returncode != 0
        assert "is missing: run 'python -m spacy project assets'" in result.stderr
        assert VARIABLE in result.stderr
        assert "Traceback" not in result.stderr
        assert not any((folder / "corpus").iterdir())
