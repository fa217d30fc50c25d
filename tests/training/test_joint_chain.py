"""Training with labels that have tags: with blocks of labels and without, and by dictionaries."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
from looped import looped
from twins import viterbi_twin

from spacy_structreg.features.template_compiler import compile_shapes
from spacy_structreg.features.templates import parse_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import JointScheme, bmes, six_labels, with_tags
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.training.chain import ChainTrainer, cut

TEMPLATES = "c-1 | c0 | c+1 | c-1c0 | c0c+1 | t-1t0"
TAGS = ["AD", "NN", "NT", "PU", "VV"]
WORDS = ["我", "我们", "们", "在", "北京", "大学", "北京大学", "学生", "学", "生", "2024年", "年"]

Sentence = list[tuple[str, str]]


def corpus(n: int, seed: int) -> list[Sentence]:
    random = np.random.default_rng(seed)
    return [
        [
            (str(random.choice(WORDS)), str(random.choice(TAGS)))
            for _ in range(random.integers(1, 7))
        ]
        for _ in range(n)
    ]


class Training:
    def __init__(self, scheme: JointScheme, learning: Learning, by_blocks: bool) -> None:
        self.atoms = CharacterAtoms()
        parsed = parse_templates([TEMPLATES], self.atoms.atoms)
        self.features = ChainFeatures(compile_shapes(parsed), self.atoms.atoms, len(scheme.labels))
        self.scheme = scheme
        graph = scheme.graph
        self.graph = LabelGraph(graph.legal, graph.starts, graph.ends, by_blocks)
        self.learner = self.features.new_learner(learning)
        self.trainer = ChainTrainer(self.features, self.graph, self.learner)

    def run(self, sentences: list[Sentence], epochs: int) -> list[tuple[int, int]]:
        chains = []
        for sentence in sentences:
            words, tags = zip(*sentence, strict=True)
            chains.append(self.atoms.compile(words, self.scheme, self.features, self.learner, tags))
        wrong = []
        random = np.random.default_rng(1)
        for epoch in range(epochs):
            pieces = cut(list(map(len, chains)), self.learner.settings.mini_sample, epoch)
            wrong.append(self.trainer.epoch(chains, random.permutation(pieces), epoch))
        return wrong


@looped("labels", [bmes, six_labels])
@looped(
    "learning",
    [
        Learning(),
        Learning(mini_sample=3.5),
        Learning(algorithm="pa", aggressiveness=0.1, mini_sample=5),
        Learning(algorithm="pa_i", aggressiveness=0.1, mini_sample=2, dropout=0.1),
        Learning(algorithm="pa_ii", aggressiveness=0.1),
        Learning(l2=0.01),
        Learning(cumulative_l1=0.01, mini_sample=5),
        Learning(hidden_dropout=0.2, mini_sample=5),
        Learning(algorithm="pa", hidden_dropout=0.2, l1=0.001),
    ],
    ids=str,
)
def test_blocks_of_labels_change_nothing(labels, learning: Learning) -> None:
    sentences = corpus(40, 0)
    one, other = (
        Training(with_tags(labels(), TAGS), learning, by_blocks) for by_blocks in (False, True)
    )
    assert one.run(sentences, 4) == other.run(sentences, 4)
    for table, same in zip(one.learner.tables, other.learner.tables, strict=True):
        state, copy = table.state(), same.state()
        assert state.keys() == copy.keys()
        for name, array in state.items():
            assert array.tobytes() == copy[name].tobytes(), name


def test_the_perceptron_equals_plain_dictionaries() -> None:
    sentences = corpus(30, 5)
    scheme = with_tags(bmes(), TAGS)
    training = Training(scheme, Learning(), by_blocks=True)
    n_labels = len(scheme.labels)
    weights: dict[tuple, list[float]] = defaultdict(lambda: [0.0] * n_labels)
    bigrams = [[0.0] * n_labels for _ in range(n_labels)]
    random = np.random.default_rng(1)
    wrong = []
    for epoch in range(3):
        n_examples = n_wrong = 0
        pieces = cut([sum(len(word) for word, _ in s) for s in sentences], None, epoch)
        for number, _, _ in random.permutation(pieces).tolist():
            text = "".join(word for word, _ in sentences[number])
            gold = scheme.encode(*zip(*((len(w), t) for w, t in sentences[number]), strict=True))
            padded = f"\0\0{text}\0\0"
            keys = [
                [(o, padded[i + 2 + o : i + 2 + o + n]) for o, n in
                 ((-1, 1), (0, 1), (1, 1), (-1, 2), (0, 2))]
                for i in range(len(text))
            ]  # fmt: skip
            emissions = [np.sum([weights[key] for key in at], axis=0).tolist() for at in keys]
            _, path = viterbi_twin(emissions, bigrams, training.graph)
            errors = sum(a != b for a, b in zip(gold, path, strict=True))
            n_wrong += errors
            n_examples += errors > 0
            for labels, sign in ((gold.tolist(), 1), (path, -1)):
                for at, label in zip(keys, labels, strict=True):
                    for key in at:
                        weights[key][label] += sign
                for a, b in itertools.pairwise(labels):
                    bigrams[a][b] += sign
        wrong.append((n_examples, n_wrong))
    assert training.run(sentences, 3) == wrong
    assert wrong[-1][1] > 0
    table = training.learner.tables[training.features.tag_bigram]
    assert [table.weights(row).tolist() for row in range(n_labels)] == bigrams
