"""The tables of sequence labelers against the lists of the papers."""

from __future__ import annotations

from looped import looped

from spacy_structreg.features.labeling import LABELING_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.tasks.tokens import LABELING_EVENTS, token_atoms

Seen = set[tuple[str, frozenset[str]]]
"""Templates by their events and atoms, in whatever order."""

PLAIN = ("ner", "chunking", "chunking-rich", "pos", "pos-rich", "characters", "bio")

# Wang et al. 2013, section 5.2: the lists for CoNLL-2003, titles being a gazetteer, and for SANCL.
NER_OF_WANG_2013 = """
w0 | shape(w0) | ngrams(w0)
w-1 | shape(w-1) | w+1 | shape(w+1)
shape(w-1) shape(w0)
words(-4..-1) | words(+1..+4)
caps(w-1) caps(w0) caps(w+1)
w-2 w-1 shape(w-1)
gazetteers(w0)
"""
POS_OF_WANG_2013 = "w-1 | w0 | w+1 | w-1 w0 | w0 w+1"
# Sha & Pereira 2003, Table 1: words and tags in a window of five.
WINDOW = ["w-2", "w-1", "w0", "w+1", "w+2"]


def labels(text: str) -> Seen:
    parts = text.replace("\n", "|").split("|")
    return {("label", frozenset(part.split())) for part in parts if part.strip()}


def parsed(table: str) -> tuple[StateTemplate, ...]:
    atoms = token_atoms(["w", "tag"])
    return parse_state_templates(
        [table], LABELING_EVENTS, atoms, LABELING_TABLES, without_atoms=["edge"]
    )


def seen(table: str) -> Seen:
    return {(template.event, frozenset(template.atoms)) for template in parsed(table)}


def test_there_is_a_table_with_edges_for_each() -> None:
    assert set(LABELING_TABLES) == {*PLAIN, *(f"{name}+edges" for name in PLAIN), "classes"}


@looped("name", PLAIN)
def test_tables_end_with_the_tag_bigram_and_their_second_ones_with_rich_edges(name: str) -> None:
    plain = parsed(name)
    assert plain[-1] == StateTemplate("edge", ())
    assert all(template.event == "label" for template in plain[:-1])
    more = parsed(f"{name}+edges")
    assert more[: len(plain)] == plain
    assert len(more) > len(plain)
    assert all(template.event == "edge" and template.atoms for template in more[len(plain) :])


@looped("name", sorted(LABELING_TABLES.keys() - {"classes"}))
def test_no_template_stands_twice(name: str) -> None:
    assert len(seen(name)) == len(parsed(name))
    text = LABELING_TABLES[name]
    written = [part for part in text.replace("\n", "|").split("|") if part.strip()]
    assert len(written) == len(parsed(name))


@looped("name", sorted(LABELING_TABLES.keys() - {"classes"}))
def test_only_chunking_needs_tags(name: str) -> None:
    needs = any("tag(" in atom for template in parsed(name) for atom in template.atoms)
    assert needs == name.startswith("chunking")


def test_names_after_wang_2013() -> None:
    assert labels(NER_OF_WANG_2013) <= seen("ner")


def test_parts_of_speech_after_wang_2013() -> None:
    assert seen("pos") == labels(POS_OF_WANG_2013) | {("edge", frozenset())}
    assert seen("pos") <= seen("pos-rich")


def test_chunks_after_sha_and_pereira_2003() -> None:
    tags = [f"tag({at})" for at in WINDOW]
    grams = [tags[i : i + n] for n in (1, 2, 3) for i in range(len(tags) - n + 1)]
    grams += [[word] for word in WINDOW] + [["w-1", "w0"], ["w0", "w+1"]]
    expected = {("label", frozenset(gram)) for gram in grams}
    assert seen("chunking") == expected | {("edge", frozenset())}


def test_characters_have_unigrams_bigrams_and_the_skip_bigram() -> None:
    grams = [WINDOW[i : i + n] for n in (1, 2) for i in range(len(WINDOW) - n + 1)]
    assert {("label", frozenset(gram)) for gram in [*grams, ["w-1", "w+1"]]} <= seen("characters")
