"""A small pipeline with parts of all kinds, trained on three sentences."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases

WORDS = [["我", "看", "书", "。"], ["小王", "写", "大", "字", "！"], ["他", "看", "北京", "。"]]
TAGS = [["PN", "VV", "NN", "PU"], ["NR", "VV", "JJ", "NN", "PU"], ["PN", "VV", "NR", "PU"]]
UNIVERSAL = {"PN": "PRON", "NR": "PROPN", "VV": "VERB", "NN": "NOUN", "JJ": "ADJ", "PU": "PUNCT"}
TREES = [[1, 1, 1, 1], [1, 1, 3, 1, 1], [1, 1, 1, 1]]
DEPS = {"PN": "nsubj", "NR": "name", "VV": "ROOT", "NN": "obj", "JJ": "amod", "PU": "punct"}
ENTS = [["O", "O", "O", "O"], ["B-PER", "O", "O", "O", "O"], ["O", "O", "B-LOC", "O"]]
MODELS = {
    "structreg_parser": "DependencyParser",
    "structreg_constituency": "ConstituencyParser",
    "structreg_sequence_labeler": "SequenceLabeler",
    "structreg_textcat": "TextClassifier",
}
PIPES: list[tuple[str, str, dict[str, Any]]] = [
    ("structreg_parser", "parser", {"sentences": "punctuation"}),
    ("structreg_constituency", "constituency", {"sentences": "punctuation"}),
    ("structreg_sequence_labeler", "ner", {}),
    ("structreg_sequence_labeler", "chunks", {"attribute": "spans", "spans_key": "chunks"}),
    ("structreg_textcat", "textcat", {}),
]


def plain_doc(vocab: Vocab, *numbers: int, **annotation: Any) -> Doc:
    """A Doc of the words and tags of sentences."""
    words = [word for number in numbers for word in WORDS[number]]
    given = {"tags": [tag for number in numbers for tag in TAGS[number]], **annotation}
    return Doc(vocab, words=words, spaces=[False] * len(words), **given)


def gold_doc(vocab: Vocab, *numbers: int) -> Doc:
    """A Doc of sentences with the annotation of all tasks."""
    heads: list[int] = []
    phrases, chunks = [], []
    for number in numbers:
        begin, end = len(heads), len(heads) + len(WORDS[number])
        heads += [begin + head for head in TREES[number]]
        phrases += [
            Phrase("IP", begin, end, begin + 1),
            Phrase("NP", begin, begin + 1, begin),
            Phrase("VP", begin + 1, end - 1, begin + 1),
        ]
        if "JJ" in TAGS[number]:
            phrases.append(Phrase("ADJP", begin + 2, begin + 3, begin + 2))
        chunks += [(begin, begin + 1, "NP"), (begin + 2, end - 1, "NP")]
    tags = [tag for number in numbers for tag in TAGS[number]]
    doc = plain_doc(
        vocab,
        *numbers,
        pos=[UNIVERSAL[tag] for tag in tags],
        heads=heads,
        deps=[DEPS[tag] for tag in tags],
        ents=[label for number in numbers for label in ENTS[number]],
    )
    write_phrases(doc, phrases)
    doc.spans["chunks"] = [Span(doc, *chunk) for chunk in chunks]
    doc.cats = {"one": float(numbers == (0,)), "more": float(numbers != (0,))}
    return doc


def examples(vocab: Vocab) -> list[Example]:
    """Training examples of all components."""
    numbers = range(len(WORDS))
    return [Example(plain_doc(vocab, number), gold_doc(vocab, number)) for number in numbers]


def trained(pipes: Collection[str] | None = None, seed: int = 1) -> Language:
    """A pipeline with parts of all kinds; or with its tokenizer and the pipes named alone."""
    unknown = set(pipes or ()) - {name for _, name, _ in PIPES}
    if unknown:
        raise ValueError(f"there are no pipes {sorted(unknown)}")
    tokenizer = {
        "@tokenizers": "spacy_structreg.JointTagger.v1",
        "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1", "seed": seed},
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    docs = [gold_doc(nlp.vocab, number) for number in range(len(WORDS))]
    nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc) for doc in docs], nlp=nlp)
    for _ in range(5):
        nlp.tokenizer.update(docs)
    if pipes is None:
        ruler: Any = nlp.add_pipe("attribute_ruler")
        ruler.add([[{"TAG": "NN"}]], {"POS": "NOUN", "MORPH": "Number=Sing"})
        ruler.add([[{"TAG": "VV"}]], {"POS": "VERB", "LEMMA": "做"})
    for factory, name, settings in PIPES:
        if pipes is not None and name not in pipes:
            continue
        model = {"@architectures": f"spacy_structreg.{MODELS[factory]}.v1", "seed": seed}
        pipe: Any = nlp.add_pipe(factory, name=name, config={"model": model, **settings})
        gold = examples(nlp.vocab)
        pipe.initialize(lambda gold=gold: gold, nlp=nlp)
        for _ in range(5):
            pipe.update(gold)
    return nlp
