"""The tokenizer that finds words, tags and trees at once: ``spacy_structreg.JointParser.v1``."""

from __future__ import annotations

from typing import Any

from spacy.training import Example

from spacy_structreg.models.joint.word_joint_parser import ParsingPredictor
from spacy_structreg.pipeline.joint_tagger import JointTagger
from spacy_structreg.pipeline.parser import score_parsed_texts
from spacy_structreg.pipeline.tokenizer import tokenizer_factory


class JointParser(JointTagger):
    """A tokenizer that finds words, their tags and dependency trees over them.

    It writes ``token.tag_``, ``token.head`` and ``token.dep_``, and with them the starts of
    sentences; see `JointTagger`. White space hangs on the token before it, with the label ``dep``.
    A root that the model has no label for is called ``ROOT``. Until the model is trained, there are
    no trees. Alternatives and confidence are those of words and tags.
    """

    NAME = "spacy_structreg.JointParser.v1"
    TASK = "dependencies"
    NEEDS = ParsingPredictor
    WRONG_MODEL = (
        "the tokenizer spacy_structreg.JointParser.v1 needs a model that parses, such as that of "
        "@architectures = 'spacy_structreg.WordJointParser.v1'; the model of the config finds "
        "words or words with tags: choose another one, or set [nlp.tokenizer] @tokenizers to "
        "'spacy_structreg.Segmenter.v1' or 'spacy_structreg.JointTagger.v1'"
    )
    WRITES = ("tags", "heads", "relations", "sentences")

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, and those with their tags, heads and labels."""
        from spacy_structreg.pipeline.tokenizer_tasks import score_segmentation

        pairs = ((example.reference, example.predicted) for example in examples)
        return {**score_segmentation(examples), **score_parsed_texts(pairs)}


create_joint_parser = tokenizer_factory(JointParser)
