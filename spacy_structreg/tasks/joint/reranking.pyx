"""The n-best analyses of a chain model of characters, ranked again with a model of words.

Zhang, Su & Zhou 2014 (Table 4, last row) rescore so the best analyses of their character-based
joint segmenter and tagger with a word-based one. They say neither how many nor how the scores are
combined; here it is a sum, with one weight.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.tasks.segmentation.characters cimport CharacterDecoder
from spacy_structreg.tasks.segmentation.text cimport TextDecoder
from spacy_structreg.tasks.segmentation.words cimport APPEND, START, WordTransitions


cdef class RerankingDecoder(CharacterDecoder):
    """Finds words and tags by two models. It holds working memory: use one in each thread.

    characters: the decoder of the model of characters, whose own lists of analyses are ranked.
    scorer: scores by the model of words; its system is a `WordTransitions`.
    n_best: how many analyses are ranked, ≥ 1. weight: of the scores of characters, ≥ 0, to which
    those of words are added.
    Raises ValueError if these do not fit each other.
    """

    def __init__(
        self, CharacterDecoder characters not None, StateScorer scorer not None, *,
        Py_ssize_t n_best, double weight,
    ):
        CharacterDecoder.__init__(
            self, characters.atoms, characters.chain, characters.label_begins,
            tags=characters.tags, label_tags=characters.label_tags, lists=characters.lists,
        )
        self.scorer = scorer
        self.system = <WordTransitions?> scorer.system
        self.n_best = n_best
        self.weight = weight
        if n_best < 1:
            raise ValueError(f"n_best must be at least 1, got {n_best}")
        if not 0 <= weight < INFINITY:
            raise ValueError(f"weight must be finite and at least 0, got {weight}")
        if max(1, len(self.tags)) != self.system.n_tags:
            raise ValueError("the two models have different tags")

    def __reduce__(self):
        return BufferOwner.__reduce__(self)

    def prefer(self, words):
        by_characters = CharacterDecoder.prefer(self, words)
        return self.system.characters.prefer(words) or by_characters

    cdef int _decode_sentences(self, Py_ssize_t n_sentences) except -1 nogil:
        # One by one: the best labels are not yet the best analysis.
        return TextDecoder._decode_sentences(self, n_sentences)

    cdef double _score_words(self, Py_ssize_t n) except? -1 nogil:
        """Score the current analysis with the word model; the sentence is loaded."""
        cdef Py_ssize_t size = self.system.state_size
        cdef Py_ssize_t n_actions = self.system.n_actions
        cdef double total = 0.0
        cdef Py_ssize_t i
        reserve(&self.buffers, self._states, (n + 2) * size)
        reserve(&self.buffers, self._masks, (n + 1) * n_actions)
        reserve(&self.buffers, self._scores, (n + 1) * n_actions)
        reserve(&self.buffers, self._actions, n + 1)
        memset(self._masks, 0, (n + 1) * n_actions)
        self.system.init(self._states)
        for i in range(n + 1):
            if i == n:
                self._actions[i] = START + self.system.n_tags
            else:
                self._actions[i] = START + self.word_tags[i] if self.begins[i] else APPEND
            self._masks[i * n_actions + self._actions[i]] = 1
            self.system.apply(
                self._states + i * size, self._actions[i], self._states + (i + 1) * size
            )
        self.scorer.score(self._states, n + 1, self._masks, self._scores)
        for i in range(n + 1):
            total += self._scores[i * n_actions + self._actions[i]]
        return total

    cdef double _total(self, double of_characters, Py_ssize_t n) except? -1 nogil:
        """Score the current analysis with both models; bonuses count once, unweighted."""
        cdef double bonus = self._bonus_of_solution(n)
        return self.weight * (of_characters - bonus) + self._score_words(n) + bonus

    cdef Py_ssize_t find_best(self, Py_ssize_t n, Py_ssize_t k) except -1 nogil:
        """Rank the `n_best` analyses of the model of characters."""
        cdef double score
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t place
        CharacterDecoder.find_best(self, n, self.n_best)
        self.system.load(self.characters, n, NULL)
        self.scorer.clear_memo()
        reserve(&self.buffers, self._ranked, self.n_best)
        while count < self.n_best:
            score = CharacterDecoder.take_best(self, count, n)
            if score == -INFINITY:
                break
            # What begins the sentence begins a word, whatever label it has.
            self.begins[0] = True
            score = self._total(score, n)
            # Of equal scores the model of characters decides, whose order stays.
            place = count
            while place and self._ranked[place - 1].score < score:
                self._ranked[place] = self._ranked[place - 1]
                place -= 1
            self._ranked[place] = RankedAnalysis(score, count)
            count += 1
        return min(k, count)

    cdef double take_best(self, Py_ssize_t rank, Py_ssize_t n) except? -1 nogil:
        CharacterDecoder.take_best(self, self._ranked[rank].rank, n)
        self.begins[0] = True
        return self._ranked[rank].score

    cdef int solve(self, Py_ssize_t n) except -1 nogil:
        if not self.find_best(n, 1):
            with gil:
                raise ValueError("no legal label sequence under the constraints of a sentence")
        self.take_best(0, n)
        return 0
