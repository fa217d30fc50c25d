"""Cards and meta data of the packages: license, sources, conventions, and figures.

`python scripts/package_meta.py REPORT PIPELINE META`: write what holds for the pipeline, the
figures of REPORT, which `../scripts/report.py` has written, and the tags that the tokenizer of
PIPELINE finds to META, a meta.json for `spacy package`. A tokenizer without tags is the fast one.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import spacy

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.tag_glossary import TAG_GLOSSARY

ABOUT: dict[str, Any] = {
    "lang": "zh",
    "description": (
        "Chinese pipeline of linear structured models for raw text in both scripts: words and "
        "their tags, universal tags, constituents, dependencies, entities."
    ),
    "license": "MIT",
    "sources": [
        {
            "name": "The treebank of spacy_structreg",
            "author": "The authors of spacy_structreg",
            "license": "CC0 1.0",
        },
        {
            "name": "Labels of raw text of the treebank, by models that LAC and Wapic guided",
            "author": "The authors of spacy_structreg; of the teachers, Baidu and Ismantic",
            "license": "CC0 1.0; of the teachers, Apache 2.0 and MIT",
        },
        {
            "name": "The word list of jieba",
            "url": "https://github.com/fxsjy/jieba",
            "author": "Sun Junyi",
            "license": "MIT",
        },
        {
            "name": "The table of characters of OpenCC",
            "url": "https://github.com/BYVoid/OpenCC",
            "author": "Carbo Kuo and contributors",
            "license": "Apache 2.0",
        },
    ],
}

HEADINGS = {
    "seg_f": "words",
    "joint_f": "words with tags",
    "uas_f": "heads",
    "las_f": "heads with labels",
    "text_brackets_f": "constituents",
    "ents_f": "entities",
    "crossed": "gold words crossed",
}

FAST = (
    "Words of Chinese raw text in both scripts, by one small linear model of characters, for "
    "speed. zh_structreg finds better words, and tags, trees and entities."
)

NOTES = """
## Use

```python
import spacy

nlp = spacy.load("zh_structreg")
doc = nlp("李明昨天在临江市图书馆借了三本书。")
print([(token.text, token.tag_, token.pos_, token.dep_, token.head.text) for token in doc])
print([(entity.text, entity.label_) for entity in doc.ents])
print(next(doc.sents)._.parse_string)
```

## Conventions

Words, tags and constituents are those of the Penn Chinese Treebank, entities those of OntoNotes.
URLs, e-mail addresses, @names, file names, versions, times, measures (35|kg), prices (￥|35), emoji
and runs of marks are cut by their form. Traditional characters are read as simplified ones;
`doc.text` is always the text.

## What it is bad at

The treebank is written by few hands. Words and names that no list has, classical turns, terms of
trades, and long chains of clauses are where most is wrong. Entities of types with few examples are
found rarely: see below.

{figures}

{entities}

{runs}

## Tags

{tags}
"""

FAST_NOTES = """
## Use

```python
import spacy

nlp = spacy.load("zh_structreg_fast")
print([token.text for token in nlp("李明昨天在临江市图书馆借了三本书。")])
for words in nlp.tokenizer.words(["我们明天去杭州。", "火车几点开？"]):  # without Docs
    print(words)
```

## Conventions

Words are those of the Penn Chinese Treebank. Traditional characters are read as simplified ones;
`doc.text` is always the text. Sentences are cut at punctuation and line breaks.

## Speed

On one core of an AMD EPYC it reads 6.8 million characters a second to lists of words, and 1.1
million to Docs; rjieba reads 6.7 million to lists, whose F is 78.0 by the conventions of the table
below. `python benchmarks/serving --ready-made` in spacy_structreg measures it.

{figures}

{runs}
"""

FIGURES = """
## Figures

F in percent of raw text, on {sentences} sentences of the blind test part of the treebank, whose
writers saw the conventions, but neither other sentences of the treebank nor any model's output. A
gold word is crossed by a found one of which it shares a part, an error by any standard of words.

{table}
"""

RUNS = "Typed runs (URLs, measures, emoji, …) that are cut rightly: {right} of {cases}."


def table(report: dict[str, Any]) -> str:
    """The figures of registers and variants, in Markdown."""
    rows = {**report["registers"], "all": report["all"], **report["variants"]}
    measured = report["all"]["figures"]
    keys = [key for key in HEADINGS if key in measured]
    head = ["", "sentences", *(HEADINGS[key] for key in keys)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, row in rows.items():
        if "figures" in row:
            figures = {key: row["figures"].get(key) for key in keys}
            shown = [
                # Crossed words are so few that a tenth of a percent is much.
                "" if value is None else f"{100 * value:.{1 + (key == 'crossed')}f}"
                for key, value in figures.items()
            ]
            lines.append([name, str(row["sentences"]), *shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def entities(report: dict[str, Any]) -> str:
    """The figures of the types of entities, in Markdown."""
    lines = [["entities", "gold", "precision", "recall", "F"], ["---", *["---:"] * 4]]
    for label, row in report["entities"].items():
        shown = ["" if row[key] is None else f"{100 * row[key]:.1f}" for key in "prf"]
        lines.append([label, str(row["gold"]), *shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def glossary(tags: list[str]) -> str:
    """The meanings of tags, in Markdown."""
    # The treebank's tags are those of the CTB; spaCy knows other meanings of some as well.
    meanings = {tag: TAG_GLOSSARY["CTB"].get(tag) or spacy.explain(tag) for tag in tags}
    return "\n".join(f"- `{tag}`: {meaning}" for tag, meaning in meanings.items())


def read_report(path: Path) -> dict[str, Any]:
    """A report of `../scripts/report.py`. Raises ValueError, naming the file, if it is none."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    parts = {"all", "entities", "registers", "typed_runs", "variants"}
    if not isinstance(found, dict) or not parts <= found.keys():
        raise ValueError(f"{path} is no report of projects/scripts/report.py")
    return found


def read_tags(pipeline: Path) -> list[str]:
    """The tags that the tokenizer of a pipeline finds, if any.

    Raises ValueError, naming the pipeline, if it cannot be loaded or its tokenizer has no model.
    """
    try:
        nlp = spacy.load(pipeline)
    except (ValueError, OSError) as error:
        raise ValueError(f"{pipeline} cannot be loaded: {error}") from error
    model = getattr(nlp.tokenizer, "model", None)
    if model is None:
        raise ValueError(f"{pipeline}: its tokenizer has no model; name a pipeline made here")
    return sorted(getattr(model, "tags", ()))


def main(arguments: list[str] | None = None) -> int:
    """0 if the file was written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("report", type=Path)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("meta", type=Path)
    given = parser.parse_args(arguments)
    try:
        report = read_report(given.report)
        tags = read_tags(given.pipeline)
        # Of all kinds; a treebank may have no table of them.
        runs = report["typed_runs"].get("all", {"right": 0, "cases": 0})
        notes = (NOTES if tags else FAST_NOTES).format(
            figures=FIGURES.format(
                sentences=report["all"]["sentences"], table=table(report)
            ).strip(),
            runs=RUNS.format(**runs),
            entities=entities(report),
            tags=glossary(tags),
        )
        performance = {
            key: value for key, value in report["all"]["figures"].items() if value is not None
        }
        given.meta.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(given.meta) as stream:
            about = ABOUT if tags else {**ABOUT, "description": FAST}
            meta = {**about, "notes": notes.strip(), "performance": performance}
            stream.write(json.dumps(meta, ensure_ascii=False, indent=2) + "\n")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
