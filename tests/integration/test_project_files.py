"""What is kept of projects: configs, READMEs, and what is said where corpora are missing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import spacy
from looped import looped
from project_runs import MADE, PROJECTS, VARIABLE, copy_of, run
from test_treebank import TREEBANK
from thinc.api import Config
from weasel.cli.document import project_document

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.files import read_lines

NAMES = sorted(
    path.parent.name
    for path in PROJECTS.glob("*/project.yml")
    if not (path.parent / "scripts/grid.py").exists()
)
# Those whose workflow `all` begins with data that a variable may name.
FETCHED = {
    *("people_daily", "sighan2005", "sxu", "ud_chinese", "zhuxian"),
    *("bio_ner", "chinese_ner", "chunking", "conll2002_ner", "pos_across_genres"),
    "text_classification",
}
# Not the path of an address such as https://host/path, nor a slash between words.
ABSOLUTE = re.compile(r"(?:^|[\s\"'`(=])(?:/[A-Za-z]|[A-Z]:\\)")

LABELER, MODEL = ("components", "sequence_labeler"), ("components", "sequence_labeler", "model")
LEXICON = {("nlp", "tokenizer", "model", "lexicon"): ["corpus/words.txt"]}
Changes = dict[tuple[str, ...], Any]
# Of each config, what `init-config` is given besides the task, and what is changed then.
CONFIGS: dict[str, tuple[dict[str, Any], Changes]] = {
    "quickstart/segment": (
        {"train": TREEBANK / "train/general.bracket", "tags": False},
        {("paths", "train"): None, **LEXICON},
    ),
    "quickstart/joint": ({"tag_map": "ctb"}, LEXICON),
    **{
        f"{name}/segment": ({}, {})
        for name in ("people_daily", "sighan2005", "sxu", "ud_chinese", "zhuxian", "ctb5")
    },
    "people_daily/joint": ({"tag_map": "pfr"}, {}),
    "ud_chinese/joint": ({"tag_map": "ud_chinese"}, {}),
    **{f"{name}/joint": ({"tag_map": "ctb"}, {}) for name in ("zhuxian", "ctb5")},
    **{
        f"{name}/tag": ({}, {})
        for name in ("people_daily", "quickstart", "ud_chinese", "zhuxian", "sinica", "ctb5")
    },
    **{f"{name}/tag": ({"lang": "en"}, {}) for name in ("ptb_sample", "ud_english")},
    **{
        f"{name}/parse": ({"lang": lang, "base": "training/tag/model-best"}, {})
        for name, lang in (("ptb_sample", "en"), ("ud_chinese", "zh"), ("ud_english", "en"))
    },
    "ctb5/parse": ({}, {}),
    **{f"{name}/constituents": ({}, {}) for name in ("ctb5", "quickstart", "sinica")},
    "ptb_sample/constituents": ({"lang": "en"}, {}),
    "bio_ner/label": ({"lang": "en"}, {(*MODEL, "templates"): "bio"}),
    "chinese_ner/label-resume": ({}, {}),
    "chinese_ner/label-weibo": ({}, {}),
    "chunking/label": ({"task": "chunk", "lang": "en"}, {(*MODEL, "templates"): "chunking-rich"}),
    "conll2002_ner/label-esp": ({"lang": "es"}, {(*MODEL, "templates"): "ner+edges"}),
    "conll2002_ner/label-ned": ({"lang": "nl"}, {}),
    "pos_across_genres/label": (
        {"lang": "en"},
        {
            (*LABELER, "attribute"): "tag",
            (*MODEL, "templates"): "pos-rich",
            (*MODEL, "scheme"): None,
            **{("training", "score_weights", key): None for key in ("ents_f", "ents_p", "ents_r")},
            ("training", "score_weights", "label_acc"): 1.0,
        },
    ),
    "text_classification/classify": (
        {"lang": "en"},
        {("components", "textcat", "model", "ngrams"): 2},
    ),
}


def without_steps(config: Config) -> Config:
    """Without what depends on the number of sentences."""
    assert config["training"].pop("eval_frequency") > 0
    config["training"].pop("patience")
    return config


@looped("path", CONFIGS)
def test_the_configs_are_what_init_config_gives_with_some_changes(
    path: str, tmp_path: Path
) -> None:
    name, _, file = path.partition("/")
    options, changes = CONFIGS[path]
    options = {"task": file.partition("-")[0], **options}
    if options["task"] == "constituents":
        options["task"] = "constituency"
    base = options.get("base")
    folder = tmp_path / path
    folder.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        if base is not None:
            nlp = spacy.blank(options["lang"])
            nlp.add_pipe("structreg_tagger", name="tagger")
            Path(base).mkdir(parents=True, exist_ok=True)
            nlp.to_disk(base)
        given = Config().from_str(init_config(None, **options), interpolate=False)
    for place, value in changes.items():
        section: Any = given
        for key in place[:-1]:
            section = section[key]
        assert place[-1] in section
        section[place[-1]] = value
    kept = Config().from_disk(PROJECTS / name / f"configs/{file}.cfg", interpolate=False)
    assert without_steps(kept) == without_steps(given), "make it anew: see the README"


def test_the_pipeline_of_raw_text_has_the_tokenizer_that_is_trained_for_it() -> None:
    configs = PROJECTS / "ud_chinese/configs"
    text = init_config(None, task="joint", tag_map="none")
    given = Config().from_str(text, interpolate=False)
    guided = Config().from_disk(configs / "guided.cfg", interpolate=False)
    raw = Config().from_disk(configs / "raw.cfg", interpolate=False)
    assert raw["nlp"]["tokenizer"] == guided["nlp"]["tokenizer"]
    # The ruler of raw.cfg, behind a tagger, is taken from there.
    assert guided["nlp"]["pipeline"].pop() == "attribute_ruler"
    del guided["components"]["attribute_ruler"]
    del guided["initialize"]["components"]["attribute_ruler"]
    # In all else, it is trained as any other.
    for config in (given, guided):
        del config["nlp"]["tokenizer"]["model"]
    assert without_steps(guided) == without_steps(given)


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_documents_the_project(name: str, tmp_path: Path) -> None:
    # Away from the project: it links assets that happen to be there.
    shutil.copy(PROJECTS / name / "project.yml", tmp_path)
    project_document(tmp_path, tmp_path / "README.md")
    marks = ("<!-- WEASEL: AUTO-GENERATED DOCS START", "<!-- WEASEL: AUTO-GENERATED DOCS END")
    kept, fresh = (
        (folder / "README.md").read_text("utf-8") for folder in (PROJECTS / name, tmp_path)
    )
    sections = [text[text.index(marks[0]) : text.index(marks[1])] for text in (kept, fresh)]
    assert sections[0] == sections[1], (
        "run: python -m spacy project document --output README.md, without assets"
    )


@looped("name", NAMES)
def test_no_path_is_of_one_machine(name: str) -> None:
    for path in (PROJECTS / name).rglob("*"):
        if path.suffix in (".cfg", ".md", ".py", ".yml") and MADE[0] not in path.parts:
            for number, line in read_lines(path):
                # Paths that are made up from a form are of no machine.
                assert "{a}" in line or not ABSOLUTE.search(line), f"{path}:{number}"


@pytest.mark.parametrize("name", sorted(FETCHED))
def test_missing_data_are_named(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path)
    result = run(folder, "-m", "spacy", "project", "run", "all", data=tmp_path)
    assert result.returncode != 0
    assert "is missing: run 'python -m spacy project assets'" in result.stderr
    assert VARIABLE in result.stderr
    assert "Traceback" not in result.stderr
    assert not any((folder / "corpus").iterdir())
