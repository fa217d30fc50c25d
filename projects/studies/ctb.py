"""The Chinese Treebank as the LDC gives it out: a folder with a file of trees for each article.

The files are named by their article, `chtb_001.fid` to `chtb_1151.fid` in release 5 and
`chtb_0001.nw`, `.mz`, `.bn` and so on in later ones; in GB18030 (release 5) or UTF-8; with mark-up
around the trees or without.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.files import DAMAGED, LONGEST_LINE, open_bytes
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.trees import Tree

ARTICLE = re.compile(r"chtb_([0-9]{3,4})\.[a-z]{2,3}(?:\.(?:gz|xz))?")
# The same articles without trees, which older releases have in folders beside.
NO_TREES = re.compile(r".*\.(?:pos|raw|seg|txt|sgm|xml)(?:\.(?:gz|xz))?")
TREE_FOLDER = "bracketed"
# Releases differ by a few sentences from each other and from the counts of the papers.
TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class CtbPart:
    """A part of the Chinese Treebank.

    articles: runs of the numbers of its articles. sentences, words: how many there are by the
    papers, without empty terminals.
    """

    articles: tuple[range, ...]
    sentences: int
    words: int

    def __contains__(self, article: int) -> bool:
        return any(article in run for run in self.articles)

    def numbers(self) -> Iterator[int]:
        """The numbers of the articles, whether there are such articles or not."""
        return chain.from_iterable(self.articles)


def _runs(*bounds: tuple[int, int]) -> tuple[range, ...]:
    return tuple(range(first, last + 1) for first, last in bounds)


# Zhang and Clark 2011, "Syntactic processing using the generalized perceptron and beam search":
# Table 11 (also of Zhang, Su and Zhou 2014), Table 17 (after Duan, Zhao and Xu 2007) and Table 21.
CTB_SPLITS: Mapping[str, Mapping[str, CtbPart]] = MappingProxyType(
    {
        "segmentation": {
            "train": CtbPart(_runs((1, 270), (400, 931), (1001, 1151)), 18_085, 493_892),
            "dev": CtbPart(_runs((301, 325)), 350, 6_821),
            "test": CtbPart(_runs((271, 300)), 348, 8_008),
        },
        "parsing": {
            "train": CtbPart(_runs((1, 815), (1001, 1136)), 16_118, 437_859),
            "dev": CtbPart(_runs((886, 931), (1148, 1151)), 804, 20_453),
            "test": CtbPart(_runs((816, 885), (1137, 1147)), 1_915, 50_319),
        },
        "ctb2": {
            "train": CtbPart(_runs((1, 270)), 3_475, 85_058),
            "dev": CtbPart(_runs((301, 325)), 355, 6_821),
            "test": CtbPart(_runs((271, 300)), 348, 8_008),
        },
    }
)
"""Parts of the Chinese Treebank by the name of a split, then of the part."""


def list_articles(folder: StrPath) -> dict[int, Path]:
    """The file of each article of a release, by the number of the article, in rising order.

    folder: with the files, or with one folder `bracketed` somewhere in it, such as that of a whole
    release. Raises ValueError, saying what to do, if there are no such files, several folders of
    them, or two files of one article.
    """
    top = Path(folder)
    folders = [top, *sorted(path for path in top.rglob(TREE_FOLDER) if path.is_dir())]
    found = [(place, files) for place in folders if (files := _articles(place))]
    if not found:
        raise ValueError(
            f"{top}: no file of the Chinese Treebank (chtb_001.fid, chtb_0001.nw, ...) in it or in "
            f"a folder '{TREE_FOLDER}' below; name the folder of the release, or the one that has "
            "the files with the trees"
        )
    if len(found) > 1:
        places = ", ".join(str(place) for place, _ in found)
        raise ValueError(f"{top}: several folders hold the trees ({places}); name one of them")
    articles: dict[int, Path] = {}
    for number, path in found[0][1]:
        if number in articles:
            raise ValueError(
                f"{path} and {articles[number].name} are both article {number}; remove one of them"
            )
        articles[number] = path
    return articles


def _articles(folder: Path) -> list[tuple[int, Path]]:
    """Number and path of the files with trees in a folder."""
    if not folder.is_dir():
        return []
    named = ((ARTICLE.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(
        (int(match[1]), path)
        for match, path in named
        if match and not NO_TREES.fullmatch(path.name) and path.is_file()
    )


def article_encoding(path: StrPath) -> str:
    """`utf-8` if a file is that, else `gb18030`: no Chinese text in GB18030 is UTF-8 by chance.

    The first 16 MiB tell. Damaged files are left to the reader to refuse. Raises OSError as `open`.
    """
    with open_bytes(path) as stream:
        try:
            # The last character may be cut.
            codecs.getincrementaldecoder("utf-8")().decode(stream.read(LONGEST_LINE))
        except UnicodeDecodeError:
            return "gb18030"
        except DAMAGED:
            pass
    return "utf-8"


def read_articles(
    files: Mapping[int, Path], articles: Iterable[int], *, encoding: str | None = None
) -> Iterator[Tree]:
    """Yield the trees of articles, as `read_brackets` does, in the order of `articles`.

    files: as of `list_articles`; articles that are not there are left out, as no release has all
    numbers. encoding: None looks at each file. Raises CorpusError as `read_brackets`.
    """
    for number in articles:
        if (path := files.get(number)) is not None:
            yield from read_brackets(path, encoding=encoding or article_encoding(path))


def check_counts(name: str, part: CtbPart, n_sentences: int, n_words: int) -> None:
    """Raise ValueError if a part is not as large as the papers say.

    name: of the part, for the error. Releases differ a little: one sentence or word in a hundred
    more or less is let pass.
    """
    for what, found, expected in (
        ("sentences", n_sentences, part.sentences),
        ("words", n_words, part.words),
    ):
        if abs(found - expected) > TOLERANCE * expected:
            runs = ", ".join(f"{run[0]}-{run[-1]}" for run in part.articles)
            raise ValueError(
                f"{name}: {found:,} {what}, but articles {runs} of the Chinese Treebank 5 have "
                f"{expected:,}; see that all files of the release are there, in folders as it has "
                "them"
            )
