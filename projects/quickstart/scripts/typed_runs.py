"""Sentences with invented URLs, measures, emoji and the like, for models that do not look for them.

`python scripts/typed_runs.py CORPUS SENTENCES OUTPUT`: copy the `.spacy` files of the folder CORPUS
to one, and add each third sentence of SENTENCES with such a run put in, which is cut into words by
its form (`spacy_structreg.features.typed_runs`).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.features.typed_runs import TypedRuns

EVERY = 3
# Parted by white space. a, A: letters; n: a number; host, name, emoji, flag: an invented one.
FORMS = """
https://{host}/{a} https://{host}/{a}/{n}?{a}={n}&{a}={a}_{a}#{a} http://www.{host}/
HTTP://{A}.COM/ https://{host}/{a}?{a}=%E{n}%{A}&{a}={n} http://localhost:{n}/{a} {host}/{a}
www.{host} {host}:{n} {a}@{host} {a}.{a}{n}@{host} {a}+{a}@{a}.{host} @{a}_{n} @{name}： @{name}:
回复@{name}： //@{name}： /home/{a}/{a}.txt /{a}/{a}/{n} {A}:\\{a}\\{a}{n}.docx ./{a}/{a}.py
{a}_{a}.json {a}{n}.pdf .gitignore {a}_{a} {a}_{a}{n}() {a}() --{a}-{a} -v v{n}.{n}.{n}
{n}.{n}.{n} {n}.{n}.{n}-rc{n} {n}.{n}beta 2024-03-08 2023/11/20 12:05 7:30:15 20:00
2024-05-05T15:30:00Z {n}-{n} {n}~{n} {n}x{n} {n},234,567.8 {n}.{n} {n}.{n}% {n},500多 {n}万
{n}.{n}亿 ￥{n} ￥{n}-￥{n} ${n}.{n} US${n} {n}kg {n}g {n}.{n}°C {n}℃ {n}fps {n}km {n}GB {n}mm
{n}m² {n}kg-{n}kg {n}g/袋 {n}ml {n}kWh {n}MB/s {a}{A}{n} {A}{n} {A}-{n} {a}-{a} C++ C# A+ TCP/IP
{A}/{A} [{a}] <{a}> </{a}> ={a}= | → ★ ① # :) :-D :( ^_^ T_T -_- orz QAQ ;-) >_< (╯°□°)╯
¯\\_(ツ)_/¯ [笑哭] [微笑] [狗头] [泪] [doge] [笑哭][泪] {emoji} {emoji}{emoji}
{emoji}{emoji}{emoji} {same} {same}{emoji} {flag} {flag}{flag} ？！ ?! !? ！！ ！！！ 。。 。。。
，， 、、 —— ——— …… ……！ ⋯⋯ ~~ ～～～ ## ``` ！！！{emoji} #{name}# #{a}{n}# 哈哈哈 哈哈哈哈哈
呵呵呵 啊啊啊 啊啊啊啊 嘿嘿嘿 二〇二四年 二○○八年 民国三十八年 康熙五十二年
两万三千四百五十六点七八 廿五 一又二分之一 三分之二 第二十一
"""
TOPS = ("cn", "com", "com.cn", "org", "net", "cc", "io")
NAMES = [
    "小林", "老王", "月亮", "爱吃瓜的猫", "今天也要开心", "数学课代表", "程序员阿杰", "山里的风",
]  # fmt: skip
FLAGS = ["🇨🇳", "🇯🇵", "🇺🇸", "🇫🇷", "🇰🇷"]
EMOJI = [chr(code) for code in (*range(0x1F300, 0x1F3FB), *range(0x1F400, 0x1F650))]


def invented(form: str, rng: random.Random) -> str:
    """A run of a form."""

    def letters(most: int) -> str:
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, most)))

    makers = {
        "a": lambda: letters(7),
        "A": lambda: letters(4).upper(),
        "n": lambda: str(rng.randint(0, 10 ** rng.randint(1, 4))),
        "host": lambda: f"{letters(8)}.{rng.choice(TOPS)}",
        "name": lambda: rng.choice(NAMES),
        "emoji": lambda: rng.choice(EMOJI),
        "same": lambda: rng.choice(EMOJI) * rng.randint(2, 4),
        "flag": lambda: rng.choice(FLAGS),
    }
    return re.sub(r"\{(\w+)\}", lambda found: makers[found[1]](), form)


def words_of(text: str) -> Iterator[str]:
    """The words of runs, and what stands between them."""
    end = 0
    for run in TypedRuns().find(text):
        for first, last in run.pieces:
            if end < first:
                yield text[end:first]
            yield text[first:last]
            end = last
    if end < len(text):
        yield text[end:]


def sentences_with_runs(docs: Iterable[Doc], vocab: Vocab) -> Iterator[Doc]:
    """Each third sentence, with a run at a place of its own: words and spaces alone."""
    rng = random.Random(0)
    forms = FORMS.split()
    for doc in islice(docs, 0, None, EVERY):
        words = [token.text for token in doc if not token.is_space]
        place = rng.randint(0, len(words))
        words[place:place] = words_of(invented(rng.choice(forms), rng))
        yield Doc(vocab, words, latin_spaces(words))


def main(arguments: list[str] | None = None) -> int:
    """0 if the sentences were written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("corpus", "sentences", "output"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args(arguments)
    vocab = Vocab()
    try:
        paths = sorted(given.corpus.glob("*.spacy"))
        if not paths:
            raise ValueError(f"{given.corpus} has no .spacy file; run convert-registers")
        written = DocBin().from_disk(paths[0])
        for path in paths[1:]:
            written.merge(DocBin().from_disk(path))
        docs = DocBin().from_disk(given.sentences).get_docs(vocab)
        written.merge(DocBin(written.attrs, docs=sentences_with_runs(docs, vocab)))
        written.to_disk(given.output)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
