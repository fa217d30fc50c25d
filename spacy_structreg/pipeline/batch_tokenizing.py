"""A callback for configs after which ``nlp.pipe`` tokenizes its texts in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from spacy.language import Language

from spacy_structreg.pipeline.tokenizer import ModelTokenizer


class BatchTokenizing(Language):  # type: ignore[no-untyped-call]  # of __init_subclass__
    """A pipeline whose `pipe` tokenizes texts in batches, if the tokenizer is one of ours.

    spaCy's own calls ``make_doc`` once a text, so that threads of the tokenizer have nothing to
    share, and short texts take up to twice the time. Docs and their order are the same; listed
    words that are changed between two Docs count from the next batch on.
    """

    _language: type[Language]
    """The class of the pipeline before."""

    def pipe(self, texts: Iterable[Any], **arguments: Any) -> Iterator[Any]:
        """Process texts or Docs as a stream, as spaCy's ``Language.pipe`` of the same arguments.

        Processes (`n_process`) tokenize one text at a time.
        """
        tokenizer: Any = self.tokenizer
        if arguments.get("n_process", 1) == 1 and isinstance(tokenizer, ModelTokenizer):
            texts = self._tokenized(
                texts,
                tokenizer,
                arguments.get("batch_size") or self.batch_size,
                as_tuples=bool(arguments.get("as_tuples")),
            )
        return super().pipe(texts, **arguments)

    def _tokenized(
        self,
        items: Iterable[Any],
        tokenizer: ModelTokenizer[Any],
        batch_size: int,
        *,
        as_tuples: bool,
    ) -> Iterator[Any]:
        """The items with Docs in place of texts, but for what spaCy is to refuse or to read."""
        # For each thread as many as the tokenizer reads ahead.
        n_threads = tokenizer.settings.n_threads
        size = batch_size if n_threads == 1 else 2 * n_threads * batch_size
        items = iter(items)
        batch: list[Any] = []
        while True:
            try:
                item = next(items)
                text, context = item if as_tuples else (item, None)
            except StopIteration:
                break
            except Exception:
                # What came before the error is due before it.
                yield from _docs_of(batch, tokenizer, batch_size, as_tuples=as_tuples)
                raise
            is_text = isinstance(text, str) and len(text) <= self.max_length
            if is_text:
                batch.append((text, context))
                if len(batch) < size:
                    continue
            yield from _docs_of(batch, tokenizer, batch_size, as_tuples=as_tuples)
            batch = []
            if not is_text:
                yield item
        yield from _docs_of(batch, tokenizer, batch_size, as_tuples=as_tuples)

    def __reduce__(self) -> tuple[Any, ...]:
        return _new, (self._language,), vars(self)


def _docs_of(
    batch: list[tuple[str, Any]],
    tokenizer: ModelTokenizer[Any],
    batch_size: int,
    *,
    as_tuples: bool,
) -> Iterator[Any]:
    """The Docs of texts with their contexts; alone, if not `as_tuples`."""
    docs = tokenizer.pipe((text for text, _ in batch), batch_size)
    for doc, (_, context) in zip(docs, batch, strict=True):
        yield (doc, context) if as_tuples else doc


def _new(language: Any) -> Language:
    """A pipeline of a language class for pickle to fill."""
    made: type[Language] = _batch_tokenizing(language)
    return made.__new__(made)


@cache
def _batch_tokenizing(language: Any) -> Any:
    """The one class of pipelines of a language that tokenize in batches."""
    return type(language.__name__, (BatchTokenizing, language), {"_language": language})


def create_batch_tokenizing() -> Callable[[Language], Language]:
    """Make the callback for ``[nlp.after_creation]``; it gives the pipeline `BatchTokenizing`."""

    def tokenize_in_batches(nlp: Language) -> Language:
        if not isinstance(nlp, BatchTokenizing):
            language: Any = type(nlp)
            nlp.__class__ = _batch_tokenizing(language)
        return nlp

    return tokenize_in_batches
