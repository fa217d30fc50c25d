"""A small pipeline with parts of all kinds, trained on three sentences."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases

WORDS = [["我", "看", "书", "。"], ["小王", "写", "大", "字", "！"], ["他", "看", "北京", "。"]]
TAGS = [["PN", "VV", "NN", "PU"], ["NR", "VV", "JJ", "NN", "PU"], ["PN", "VV", "NR", "PU"]]
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


def gold_doc(vocab: Vocab, number: int) -> Doc:
    words, tags = WORDS[number], TAGS[number]
    n = len(words)
    doc = Doc(
        vocab,
        words=words,
        spaces=[False] * n,
        tags=tags,
        heads=TREES[number],
        deps=[DEPS[tag] for tag in tags],
        ents=ENTS[number],
    )
    write_phrases(doc, [Phrase("IP", 0, n, 1), Phrase("NP", 0, 1, 0), Phrase("VP", 1, n - 1, 1)])
    doc.spans["chunks"] = [Span(doc, 0, 1, "NP"), Span(doc, 2, n - 1, "NP")]
    doc.cats = {"one": float(number == 0), "more": float(number != 0)}
    return doc


def trained() -> Language:
    """A pipeline with parts of all kinds."""
    tokenizer = {
        "@tokenizers": "spacy_structreg.JointTagger.v1",
        "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1", "seed": 1},
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    docs = [gold_doc(nlp.vocab, number) for number in range(len(WORDS))]
    nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc) for doc in docs], nlp=nlp)
    for _ in range(5):
        nlp.tokenizer.update(docs)
    ruler: Any = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"TAG": "NN"}]], {"POS": "NOUN", "MORPH": "Number=Sing"})
    ruler.add([[{"TAG": "VV"}]], {"POS": "VERB", "LEMMA": "做"})
    for factory, name, settings in PIPES:
        model = {"@architectures": f"spacy_structreg.{MODELS[factory]}.v1", "seed": 1}
        pipe: Any = nlp.add_pipe(factory, name=name, config={"model": model, **settings})
        examples = [
            Example(Doc(nlp.vocab, words, [False] * len(words), tags=tags), doc)
            for words, tags, doc in zip(WORDS, TAGS, docs, strict=True)
        ]
        pipe.initialize(lambda examples=examples: examples, nlp=nlp)
        for _ in range(5):
            pipe.update(examples)
    return nlp
