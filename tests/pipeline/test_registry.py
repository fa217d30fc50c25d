"""What users may write into a config: names, settings and defaults, held to a snapshot.

After a change that is meant, write the snapshot anew: ``python tests/pipeline/test_registry.py``.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import registry

import spacy_structreg

SNAPSHOT = Path(__file__).with_name("registry.json")
PACKAGE = Path(spacy_structreg.__file__).parent
COMPILED = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    for file in PACKAGE.rglob("*.pyx")
)


def block_of(tokenizer: str, model: str) -> dict[str, Any]:
    model = f"spacy_structreg.{model}.v1"
    return {"@tokenizers": f"spacy_structreg.{tokenizer}.v1", "model": {"@architectures": model}}


# The models of tokenizers, each with the tokenizer that its defaults are shown with; those of whose
# tokenizers the defaults are shown come first.
MODELS = {
    "CharacterSegmenter": "Segmenter",
    "CharacterJointTagger": "JointTagger",
    "WordJointParser": "JointParser",
    "WordSegmenter": "Segmenter",
    "GuidedSegmenter": "Segmenter",
    "WordJointTagger": "JointTagger",
    "GuidedJointTagger": "JointTagger",
    "GuidedJointParser": "JointParser",
    "JointReranker": "JointTagger",
}
TOKENIZERS = {
    f"spacy_structreg.{MODELS[model]}.v1": block_of(MODELS[model], model) for model in [*MODELS][:3]
}
# Runs a command that must neither warn nor depend on what this process has imported.
PYTHON = [sys.executable, "-W", "error", "-c"]


def registered() -> dict[str, dict[str, Any]]:
    """Our functions in every registry of spaCy, with the default of each parameter.

    Factories are missing: spaCy registers them under names of its own, with the first pipeline.
    """
    found: dict[str, dict[str, Any]] = {}
    for kind in set(registry.get_registry_names()) - {"factories"}:
        for name, function in getattr(registry, kind).get_all().items():
            if function is not None and (function.__module__ or "").startswith("spacy_structreg."):
                parameters = inspect.signature(function).parameters.values()
                found.setdefault(kind, {})[name] = {
                    parameter.name: "required"
                    if parameter.default is parameter.empty
                    else parameter.default
                    for parameter in parameters
                }
    return found


def entry_point_names() -> dict[str, list[str]]:
    """What the installed package announces to spaCy."""
    return {
        group: sorted(
            {e.name for e in entry_points(group=group) if e.value.startswith("spacy_structreg.")}
        )
        for group in sorted(entry_points().groups)
        if group.startswith("spacy_")
    }


def factories() -> dict[str, dict[str, Any]]:
    """Our components, with their default configs and what they say of their scores."""
    nlp = spacy.blank("zh")
    return {
        name: {
            "default_config": nlp.get_factory_meta(name).default_config,
            "default_score_weights": nlp.get_factory_meta(name).default_score_weights,
            "scores": sorted(nlp.get_factory_meta(name).scores),
            "assigns": nlp.get_factory_meta(name).assigns,
            "requires": nlp.get_factory_meta(name).requires,
            "retokenizes": nlp.get_factory_meta(name).retokenizes,
        }
        for name in nlp.factory_names
        if "structreg" in name
    }


def filled_configs() -> dict[str, Any]:
    """The blocks of a config as spaCy fills them for whoever only names things."""
    filled: dict[str, Any] = {}
    for lang in ("zh", "xx"):
        for name, block in TOKENIZERS.items():
            config = spacy.blank(lang, config={"nlp": {"tokenizer": block}}).config
            filled[f"{lang} {name}"] = {
                "nlp.tokenizer": config["nlp"]["tokenizer"],
                "initialize.tokenizer": config["initialize"]["tokenizer"],
            }
    for model in [*MODELS][3:]:
        block = block_of(MODELS[model], model)
        config = spacy.blank("xx", config={"nlp": {"tokenizer": block}}).config
        filled[f"xx spacy_structreg.{model}.v1"] = {"nlp.tokenizer": config["nlp"]["tokenizer"]}
    for name in factories():
        nlp = spacy.blank("zh")
        nlp.add_pipe(name)
        filled[name] = {
            "components": nlp.config["components"],
            "training.score_weights": nlp.config["training"]["score_weights"],
        }
    return filled


def current() -> dict[str, Any]:
    names = {kind: names for kind, names in entry_point_names().items() if names}
    found = {
        "entry_points": names,
        "registered": registered(),
        "factories": factories(),
        "filled_configs": filled_configs(),
    }
    return json.loads(json.dumps(found))


def test_names_and_defaults_are_those_of_the_snapshot() -> None:
    assert current() == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_the_snapshot_knows_all_that_is_registered() -> None:
    announced = entry_point_names()
    assert sorted(announced["spacy_tokenizers"]) == sorted(TOKENIZERS)
    assert sorted(announced["spacy_factories"]) == sorted(factories())
    functions = registered()
    for kind in ("architectures", "augmenters", "readers", "scorers", "tokenizers"):
        assert sorted(functions[kind]) == announced[f"spacy_{kind}"]


def run(code: str) -> str:
    done = subprocess.run([*PYTHON, code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_score_weights_are_known_before_there_is_a_pipeline() -> None:
    """As in `init-config`, whose process has loaded no factory yet."""
    code = (
        "from spacy_structreg.pipeline.task import score_weights\n"
        "print(*(score_weights(name) != {} for name in ('structreg_textcat', 'structreg_parser')))"
    )
    assert run(code).split() == ["True", "True"]


def test_what_annotates_imports_nothing_that_trains_or_reads(small_pipeline_folder: Path) -> None:
    imported = run(
        "import sys, spacy\n"
        f"spacy.load({str(small_pipeline_folder)!r})('我看书。')\n"
        "print(*(name for name in sys.modules if name.startswith('spacy_structreg.')))"
    ).split()
    needless = ("training", "cli", "corpora.files", "corpora.formats", "models.reports")
    found = [name.removeprefix("spacy_structreg.") for name in imported]
    assert "models.constituents" in found
    assert not [name for name in found if name.startswith(needless)]


@pytest.mark.slow
def test_broken_compiled_modules_break_no_pipeline_but_ours() -> None:
    """Others import the factories, and next to nothing else."""
    assert COMPILED
    output = run(
        "import sys, spacy\n"
        f"broken = {COMPILED}\n"
        "class Broken:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in broken:\n"
        "            raise ImportError(f'{name}: undefined symbol')\n"
        "sys.meta_path.insert(0, Broken())\n"
        "nlp = spacy.blank('en')\n"
        "print(*(name for name in sys.modules if name.startswith('spacy_structreg')))\n"
        "print([token.text for token in nlp('It works.')], len(nlp.factory_names) > 1)\n"
        "nlp = spacy.blank('zh')\n"
        "print([token.text for token in nlp('可以')])\n"
        f"block = {TOKENIZERS['spacy_structreg.Segmenter.v1']}\n"
        "try:\n"
        "    spacy.blank('zh', config={'nlp': {'tokenizer': block}})\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    imported, english, chinese, ours = output.splitlines()
    assert "spacy_structreg.pipeline.tagger" in imported
    assert not {*COMPILED} & {*imported.split()}
    floors = {name.split(".")[1] for name in imported.split() if "." in name}
    assert floors == {"about", "corpora", "learn", "pipeline"}
    assert len(imported.split()) <= 30
    assert english == "['It', 'works', '.'] True"
    assert chinese == "['可', '以']"
    # The error of the loader reaches the user as it is.
    assert ours in [f"{name}: undefined symbol" for name in COMPILED]


if __name__ == "__main__":
    text = json.dumps(current(), indent=2, sort_keys=True, ensure_ascii=False)
    SNAPSHOT.write_text(f"{text}\n", encoding="utf-8")
