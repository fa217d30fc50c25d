"""The base of estimators that find words in raw text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, ClassVar, cast

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.features.typed_runs import LatinRuns, TypedRuns
from spacy_structreg.models.estimator import Estimator
from spacy_structreg.models.gold import GoldT
from spacy_structreg.models.knowledge import has_statistics, recounted
from spacy_structreg.models.raw_text import RawTextPredictor, TextDecoderT
from spacy_structreg.tasks.segmentation.given_spans import with_stand_ins

if TYPE_CHECKING:
    from typing_extensions import Self


class TextEstimator(Estimator[GoldT, TextDecoderT], RawTextPredictor[TextDecoderT]):
    """An estimator that finds words in raw text; it has the setting `sentences`."""

    SPEC: ClassVar[Any]
    """A spec that is a `TextSchema`."""

    @property
    def can_adapt(self) -> bool:
        return self.is_trained and has_statistics(getattr(self._fitted_spec(), "atoms", None))

    def adapt(
        self,
        texts: Iterable[str],
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self:
        tables = self._tables_in_memory()
        spec: Any = self._spec_in_memory()
        if not self.can_adapt:
            raise ValueError(
                f"the {self.NOUN} has no statistics of raw text that could be counted anew; train "
                'it with statistics = "accessor_variety"'
            )
        atoms = recounted(spec.atoms, texts, counts=counts, together=together, n_threads=n_threads)
        model = self.untrained()
        model._spec = replace(spec, atoms=atoms)
        model._set_weights(tables)
        model.corpus_checksum = self.corpus_checksum
        return model

    def _examples(self, sentence: GoldT) -> Sequence[GoldT]:
        examples = self.SPEC.examples(sentence, split=self.sentences != "doc")
        if self.typed_runs == "latin":
            return list(map(self._with_whole_runs, examples))
        return list(map(self._with_stand_ins, examples)) if self.typed_runs else examples

    def _with_whole_runs(self, example: GoldT) -> GoldT:
        """An example with words joined that cut a run; what is known in part stays as it is."""
        if isinstance(example, PartialSentence):
            return example
        words = self.SPEC.layers(example)[0]
        ends = list(accumulate(map(len, words)))
        runs = LatinRuns().find("".join(words))
        cut = {place for run in runs for place in range(run.start + 1, run.end)}
        joined: list[Any] = []
        for item, start in zip(cast("list[Any]", example), [0, *ends], strict=False):
            if start not in cut:
                joined.append(item)
            elif isinstance(item, str):
                joined[-1] += item
            else:
                joined[-1] = (joined[-1][0] + item[0], joined[-1][1])
        return cast("GoldT", joined)

    def _with_stand_ins(self, example: GoldT) -> GoldT:
        """An example with the stand-ins of typed runs, as models see them."""
        runs = TypedRuns(self.whole_runs)
        if isinstance(example, PartialSentence):
            text = with_stand_ins(example.text, runs.find(example.text))
            return cast("GoldT", replace(example, text=text))
        words = self.SPEC.layers(example)[0]
        text = self._text_of(words)
        seen = iter("".join(with_stand_ins(text, runs.find(text)).split()))
        masked = ["".join(islice(seen, len(word))) for word in words]
        return cast("GoldT", self.SPEC.with_words(example, masked))
