"""A small corpus out of templates: simplified Chinese sentences as lists of words."""

from __future__ import annotations

import pickle
import random
from itertools import chain

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

WORDS = {
    "who": ["小王", "老师", "邻居", "我们", "她", "那位医生", "赵明"],
    "when": ["昨天", "今年春天", "早上", "上个星期", "2024年"],
    "where": ["图书馆", "河边", "公园", "火车站", "山脚下"],
    "what": ["苹果", "旧杂志", "自行车", "热汤面", "雨伞", "USB线"],
    "how": ["慢慢", "高兴地", "一起", "又"],
    "number": ["三", "十二", "5"],
}
# Words that are written above as phrases.
PARTS = {
    "那位医生": ["那", "位", "医生"],
    "今年春天": ["今年", "春天"],
    "上个星期": ["上", "个", "星期"],
    "2024年": ["2024年"],
    "山脚下": ["山脚", "下"],
    "旧杂志": ["旧", "杂志"],
    "热汤面": ["热", "汤面"],
    "USB线": ["USB", "线"],
}
TEMPLATES = [
    "who when 在 where 买 了 number 个 what 。",
    "when ， who how 去 where 看 朋友 。",
    "who 说 ： “ what 在 哪儿 ？ ”",
    "请 把 what 放 到 where 去 ！",
    "who 和 who 都 不 喜欢 what 。",
    "where 里 有 number 把 what ， who 没 看见 。",
]
# Of the parts above, and of words by their slot; the words of the templates are VV or PU.
PART_TAGS = {"那": "DT", "位": "M", "个": "M", "上": "DT", "旧": "JJ", "下": "LC"}
SLOT_TAGS = {"who": "NR", "when": "NT", "where": "NN", "what": "NN", "how": "AD", "number": "CD"}
CONFIG = {
    "nlp": {
        "tokenizer": {
            "@tokenizers": "spacy_structreg.Segmenter.v1",
            "model": {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 7},
        }
    }
}
"""The config of a pipeline whose tokenizer is ours."""


def sentences(n: int = 150, seed: int = 0) -> list[list[str]]:
    """The first n different sentences that a seed gives."""
    choose = random.Random(seed)
    found: dict[tuple[str, ...], None] = {}
    while len(found) < n:
        words: list[str] = []
        for slot in choose.choice(TEMPLATES).split():
            word = choose.choice(WORDS.get(slot, [slot]))
            words += PARTS.get(word, [word])
        found[tuple(words)] = None
    return list(map(list, found))


def tag_of(word: str) -> str:
    """The tag of a word of our sentences, a tag of the Chinese Treebank."""
    if word in PART_TAGS:
        return PART_TAGS[word]
    for slot, words in WORDS.items():
        if any(word in PARTS.get(phrase, [phrase]) for phrase in words):
            return SLOT_TAGS[slot]
    return "VV" if word.isalnum() else "PU"


def with_tags(words: list[str]) -> list[tuple[str, str]]:
    """The words of a sentence with their tags."""
    return [(word, tag_of(word)) for word in words]


TRAIN, DEV = sentences()[:110], sentences()[110:]
TEXTS = ["".join(words) for words in DEV]


def gold_doc(vocab: Vocab, words: list[str], **annotation: object) -> Doc:
    """A Doc of words that are written without spaces between them."""
    return Doc(vocab, words=words, spaces=[False] * len(words), **annotation)


JOINT_CONFIG = {
    "nlp": {
        "tokenizer": {
            "@tokenizers": "spacy_structreg.JointTagger.v1",
            "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1", "seed": 7},
        }
    }
}
"""The config of a pipeline whose tokenizer tags."""


def tagged_doc(vocab: Vocab, words: list[str]) -> Doc:
    """A gold Doc with tags."""
    return gold_doc(vocab, words, tags=list(map(tag_of, words)))


def trained_joint(passes: int = 5) -> Language:
    """A blank pipeline whose tokenizer has learned words and tags from TRAIN."""
    nlp = spacy.blank("zh", config=JOINT_CONFIG)
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN]
    nlp.tokenizer.model.prepare(chain.from_iterable(map(nlp.tokenizer.gold_sentences, docs)))
    for _ in range(passes):
        nlp.tokenizer.update(docs)
    return nlp


def untrained(lang: str = "zh") -> Language:
    """A blank pipeline with an untrained tokenizer of ours."""
    return spacy.blank(lang, config=CONFIG)


def trained(lang: str = "zh", passes: int = 5) -> Language:
    """A blank pipeline whose tokenizer has been trained on TRAIN."""
    nlp = untrained(lang)
    for _ in range(passes):
        nlp.tokenizer.update([gold_doc(nlp.vocab, words) for words in TRAIN])
    return nlp


def copies(doc: Doc) -> list[Doc]:
    """A Doc after each of the ways in which spaCy keeps and copies it."""
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return [
        Doc(doc.vocab).from_bytes(doc.to_bytes()),
        *DocBin(store_user_data=True).from_bytes(stored).get_docs(doc.vocab),
        pickle.loads(pickle.dumps(doc)),
        doc.copy(),
    ]


def tokens(doc: Doc) -> list[str]:
    """The texts of a Doc's tokens."""
    return [token.text for token in doc]
