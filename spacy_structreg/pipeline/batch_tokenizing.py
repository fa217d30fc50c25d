"""A callback for configs after which ``nlp.pipe`` tokenizes its texts in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import tee
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.pipeline.tokenizer import ModelTokenizer


class BatchTokenizing(Language):  # type: ignore[no-untyped-call]  # of __init_subclass__
    """A pipeline whose `pipe` tokenizes texts in batches, if the tokenizer is one of ours.

    spaCy's own calls the tokenizer once a text, so that threads of the tokenizer have nothing to
    share, and short texts take up to twice the time. Docs, their order and errors are the same.
    """

    def pipe(self, texts: Iterable[Any], **arguments: Any) -> Iterator[Any]:
        """Process texts or Docs as a stream, as spaCy's ``Language.pipe`` of the same arguments.

        Processes (`n_process`) tokenize one text at a time.
        """
        tokenizer: Any = self.tokenizer
        if arguments.get("n_process", 1) == 1 and isinstance(tokenizer, ModelTokenizer):
            size = arguments.get("batch_size") or self.batch_size
            tokenize = partial(tokenizer.pipe, batch_size=size)
            texts = self._tokenized(texts, tokenize, bool(arguments.get("as_tuples")))
        return super().pipe(texts, **arguments)

    def _tokenized(
        self,
        items: Iterable[Any],
        tokenize: Callable[[Iterable[str]], Iterator[Doc]],
        as_tuples: bool,
    ) -> Iterator[Any]:
        """The items with Docs in place of texts, but for what spaCy is to refuse or to read."""

        def is_text(text: Any) -> bool:
            return isinstance(text, str) and len(text) <= self.max_length

        def text_of(item: Any) -> Any:
            return item[0] if as_tuples else item

        items, copies = tee(items)
        docs = tokenize(filter(is_text, map(text_of, copies)))
        for item in items:
            if not is_text(text_of(item)):
                yield item
            else:
                yield (next(docs), item[1]) if as_tuples else next(docs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _new, (type(self).__bases__[1],), vars(self)


def _new(language: Any) -> Language:
    """A pipeline of a language class for pickle to fill."""
    made: type[Language] = _batch_tokenizing(language)
    return made.__new__(made)


@cache
def _batch_tokenizing(language: Any) -> Any:
    """The one class of pipelines of a language that tokenize in batches."""
    return type(language.__name__, (BatchTokenizing, language), {})


def create_batch_tokenizing() -> Callable[[Language], Language]:
    """Make the callback for ``[nlp.after_creation]``; it gives the pipeline `BatchTokenizing`."""

    def tokenize_in_batches(nlp: Language) -> Language:
        if not isinstance(nlp, BatchTokenizing):
            language: Any = type(nlp)
            nlp.__class__ = _batch_tokenizing(language)
        return nlp

    return tokenize_in_batches
