"""Sentences that we make up for the tests of the segmenter, and slow ways to judge words."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter

# Words that share characters, so that boundaries have to be learned and some stay wrong.
_TEXT = (
    "我 你 他们 老师 学生 学 生 大学 大 学生会 上海 上 海 海边 北京 北 京城 中国 中 国家 家 家里 "
    "人 人们 老人 今天 天 明天 天气 气 很 好 不 不好 看 看见 见 书 图书 图书馆 去 过去 来 回来 "
    "在 现在 吃 吃饭 饭店 店 工作 工人 作 作家 说 小说 说话 话 ２０２４年 3月 ABC 3.5 ％"
)
_WORDS = _TEXT.split()
_ENDS = ["。", "！", "？", "……"]


def sentences(n: int, seed: int) -> list[list[str]]:
    """Random sequences of our words, most with a mark at the end, some with a comma."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        words = chance.choices(_WORDS, k=chance.randint(1, 9))
        if chance.random() < 0.2:
            words.insert(chance.randint(1, len(words)), "，")
        if chance.random() < 0.8:
            words.append(chance.choice(_ENDS))
        made.append(words)
    return made


def text_of(words: Iterable[str]) -> str:
    return "".join(words)


def squeeze(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def spans_of(words: Sequence[str]) -> set[tuple[int, int]]:
    """Begin and end of each word, counted without white space."""
    spans = set()
    begin = 0
    for word in words:
        spans.add((begin, begin + len(word)))
        begin += len(word)
    return spans


def f_score(segmenter: CharacterSegmenter, gold: Sequence[Sequence[str]]) -> float:
    """The F of words, counted in the plainest way."""
    right = n_gold = n_predicted = 0
    for words in gold:
        squeezed = [squeeze(word) for word in words if squeeze(word)]
        true, found = spans_of(squeezed), spans_of(segmenter.predict(text_of(squeezed)))
        right += len(true & found)
        n_gold += len(true)
        n_predicted += len(found)
    return 2 * right / (n_gold + n_predicted)


def arrays_of(segmenter: CharacterSegmenter) -> dict[str, bytes]:
    """The weights alone: what does not depend on settings."""
    return {name: array.tobytes() for name, array in parse_model(segmenter.to_bytes())[1].items()}
