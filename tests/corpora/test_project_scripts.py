"""The scripts by which projects make the parts of their corpora."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
from pathlib import Path

import pytest
import spacy
from looped import looped
from pipeline.made_up import trained, trained_joint
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from warm_python import executable

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.formats.conllu import TreebankSentence, Word, write_conllu
from spacy_structreg.corpora.sentence import Phrase
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.features.typed_runs import TypedRuns
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.pipeline.constituency_documents import write_phrases

PROJECTS = Path(__file__).parents[2] / "projects"
SAMPLE = PROJECTS / "ptb_sample/scripts/sample.py"
ABSTRACTS = PROJECTS / "bio_ner/scripts/abstracts.py"
CHARACTERS = PROJECTS / "chinese_ner/scripts/characters.py"
NAME_LISTS = PROJECTS / "quickstart/scripts/name_lists.py"
RAW_SENTENCES = PROJECTS / "distillation/scripts/raw_sentences.py"
TEACH = PROJECTS / "distillation/scripts/teach.py"
LABEL_TREES = PROJECTS / "distillation/scripts/label_trees.py"
PACKAGE_META = PROJECTS / "scripts/package_meta.py"
PIPELINE_META = PROJECTS / "quickstart/scripts/package_meta.py"
TYPED_RUNS = PROJECTS / "quickstart/scripts/typed_runs.py"
TEXTS = PROJECTS / "text_classification/scripts/texts.py"


def run(script: Path, *arguments: object) -> tuple[int, str]:
    """Run a script; its return code, and what it said of errors."""
    result = subprocess.run(
        [executable(), str(script), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert "Traceback" not in result.stderr
    return result.returncode, result.stderr


def fault_of(script: Path, *arguments: object) -> str:
    """What a script says of a mistake, which it must end with."""
    code, errors = run(script, *arguments)
    assert code == 1
    return errors


class TestPennSample:
    TREES = r"( (S (NP-SBJ (NNP Ann) (-LRB- -LRB-)) (VP (VBZ eats) (CD {}\/2))) )" + "\n"

    @pytest.mark.parametrize(
        ("fold", "test", "dev"),
        [
            (1, 0, 9),
            pytest.param(10, 9, 8, marks=pytest.mark.slow),
        ],
    )
    def test_folds(self, fold: int, test: int, dev: int, tmp_path: Path) -> None:
        trees, folder = tmp_path / "combined.mrg.xz", tmp_path / "corpus"
        trees.write_bytes(lzma.compress("".join(map(self.TREES.format, range(23))).encode()))
        assert run(SAMPLE, trees, folder, fold) == (0, "")
        parts = {
            part: list(DocBin().from_disk(folder / f"{part}.spacy").get_docs(Vocab()))
            for part in ("train", "dev", "test")
        }
        doc = parts["test"][0]
        assert [(token.text, token.tag_) for token in doc[:3]] == [
            *(("Ann", "NNP"), ("(", "-LRB-"), ("eats", "VBZ"))
        ]
        assert [token.head.i for token in doc] == [2, 0, 2, 2]
        assert [(span.label_, span.start, span.end) for span in doc.spans["constituents"]] == [
            *(("S", 0, 4), ("NP", 0, 2), ("VP", 2, 4))
        ]
        assert list(doc.spans["constituents"].attrs["heads"]) == [2, 0, 2]
        # The last word of a sentence is its number, halved.
        numbers = {
            part: [int(doc[-1].text.removesuffix("/2")) for doc in docs]
            for part, docs in parts.items()
        }
        bounds = fold_bounds(23)
        assert numbers["test"] == list(range(*bounds[test]))
        assert numbers["dev"] == list(range(*bounds[dev]))
        assert sorted(numbers["train"] + numbers["dev"] + numbers["test"]) == list(range(23))

    def test_a_fold_that_there_is_not(self, tmp_path: Path) -> None:
        told = fault_of(SAMPLE, tmp_path / "combined.mrg", tmp_path / "corpus", 11)
        assert "folds are numbered from 1 to 10" in told


class TestAbstracts:
    TRAIN = "###MEDLINE:{}\n\nbeta\tO\ncell {}\tB-X\n\n"

    def part(self, tmp_path: Path, train: str, ids: str) -> tuple[int, str]:
        (tmp_path / "train").write_text(train, "utf-8")
        (tmp_path / "ids").write_text(ids, "utf-8")
        return run(
            ABSTRACTS, *(tmp_path / name for name in ("train", "ids", "new/rest", "new/dev"))
        )

    def test_abstracts_are_parted(self, tmp_path: Path) -> None:
        train = "".join(self.TRAIN.format(i, i) for i in (11, 12, 1, 13))
        assert self.part(tmp_path, train, "13\n12\n") == (0, "")
        rest, dev = ((tmp_path / "new" / name).read_text("utf-8") for name in ("rest", "dev"))
        assert rest == "".join(self.TRAIN.format(i, i) for i in (11, 1))
        assert dev == "".join(self.TRAIN.format(i, i) for i in (12, 13))

    @looped(
        ("train", "ids", "fault"),
        [
            (TRAIN.format(1, 1), "2\n", "such as 2; take files of one release"),
            (TRAIN.format(1, 1), "1\n", "names all abstracts"),
            (TRAIN.format(1, 1), "\n", "or none"),
            (2 * TRAIN.format(1, 1), "1\n", "train:6: the abstract 1 occurs twice"),
            ("beta\tO\n", "1\n", "train:1: there is no line with ###MEDLINE: before it"),
        ],
    )
    def test_faults(self, train: str, ids: str, fault: str, tmp_path: Path) -> None:
        code, errors = self.part(tmp_path, train, ids)
        assert code == 1
        assert fault in errors
        assert not [*tmp_path.glob("new/*")]

    def test_of_the_corpus(self, data_folder: Path, tmp_path: Path) -> None:
        source = data_folder / "jnlpba"
        train = source / "train.approx.iob2.xz"
        assert run(ABSTRACTS, train, source / "devel.ids", tmp_path / "a", tmp_path / "b")[0] == 0
        lines = [(tmp_path / name).read_text("utf-8").splitlines() for name in "ab"]
        counts = [sum(line.startswith("###MEDLINE:") for line in each) for each in lines]
        assert counts == [1800, 200]
        with lzma.open(train, "rt", encoding="utf-8") as stream:
            assert sum(map(len, lines)) == sum(1 for _ in stream)


class TestCharacters:
    def test_digits_are_taken_off(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a", tmp_path / "new/b"
        source.write_text("张0\tB-PER\n张1\tI-PER\n\n20\tO\n#0\tO\n", "utf-8")
        assert run(CHARACTERS, source, target) == (0, "")
        assert target.read_text("utf-8") == "张\tB-PER\n张\tI-PER\n\n2\tO\n#\tO\n\n"

        for cell in ("张", "5", "张二"):
            source.write_text(f"{cell}\tO\n", "utf-8")
            told = fault_of(CHARACTERS, source, tmp_path / "c")
            assert "is no character with a digit behind it" in told
            assert not (tmp_path / "c").exists()


class TestTexts:
    def test_as_texts(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.conllu", tmp_path / "new/a.tsv"
        text = TreebankSentence(
            (Word("Two"), Word("boats", misc="SpaceAfter=No"), Word(".")),
            comments=("# sent_id = email-enron-1",),
        )
        spaced = TreebankSentence(
            (Word("One"),), comments=("# sent_id = weblog-1", "# text =  One \xa0 boat ")
        )
        write_conllu(source, [text, spaced])
        assert run(TEXTS, source, target) == (0, "")
        assert target.read_text("utf-8") == "Two boats.\temail\nOne boat\tweblog\n"
        write_conllu(source, [TreebankSentence((Word("a"),), comments=("# sent_id = novel",))])
        assert "'novel'" in fault_of(TEXTS, source, tmp_path / "b.tsv")


class TestNameLists:
    def test_lists_by_tag_and_names_that_stand_in_for_others(self, tmp_path: Path) -> None:
        words = tmp_path / "words.txt"
        listed = (
            "绵阳市 9 ns|嘉陵江 9 ns|华北地区 9 ns|克莱因 9 nrt|复旦大学 9 nt|吃饭 99 v|的 999 uj"
        )
        words.write_text(listed.replace("|", "\n"), "utf-8")
        assert run(NAME_LISTS, words, tmp_path / "lists") == (0, "")
        found = {p.stem: p.read_text("utf-8").split() for p in (tmp_path / "lists").iterdir()}
        assert found["places"] == ["绵阳市", "嘉陵江", "华北地区"]
        assert (found["institutions"], found["persons"]) == (["复旦大学"], ["克莱因"])
        assert (found["swap_GPE"], found["swap_LOC"]) == (["绵阳市", "绵阳"], ["嘉陵江"])
        persons = found["swap_PERSON"]
        assert len(set(persons)) == len(persons) > 5_000
        assert "克莱因" in persons
        assert all(2 <= len(name) <= 4 for name in persons if name != "克莱因")
        # By their frequencies, and neither short nor long ones.
        common = (tmp_path / "lists/common.txt").read_text("utf-8").splitlines()
        rows = "吃饭 99 v|克莱因 9 nrt|华北地区 9 ns|嘉陵江 9 ns|复旦大学 9 nt|绵阳市 9 ns"
        assert common == rows.split("|")
        assert "none.txt" in fault_of(NAME_LISTS, tmp_path / "none.txt", tmp_path)


class TestTypedRuns:
    def test_each_third_sentence_comes_again_with_a_run(self, tmp_path: Path) -> None:
        vocab = Vocab()
        sentences = [["他", "来", "了"], ["她", "走", "了"], ["猫", "睡", "了"]] * 200
        docs = [Doc(vocab, each, [False] * 3, tags=["T"] * 3) for each in sentences]
        (tmp_path / "corpus").mkdir()
        for name in ("a", "b"):
            DocBin(docs=docs).to_disk(tmp_path / f"corpus/{name}.spacy")
        output = tmp_path / "made.spacy"
        given = (tmp_path / "corpus", tmp_path / "corpus/a.spacy", output)
        assert run(TYPED_RUNS, *given) == (0, "")
        found = list(DocBin().from_disk(output).get_docs(vocab))
        copied, made = found[:1_200], found[1_200:]
        assert [[token.text for token in doc] for doc in copied] == sentences * 2
        assert all(token.tag_ == "T" for doc in copied for token in doc)
        assert len(made) == 200
        pieces = set()
        for doc in made:
            words = [token.text for token in doc]
            assert [word for word in words if word in "他来了"] == ["他", "来", "了"]
            cuts = {0, *(token.idx for token in doc), *(token.idx + len(token) for token in doc)}
            for run_ in TypedRuns().find(doc.text):
                if not run_.is_open:
                    assert {run_.start, run_.end} <= cuts
                pieces.add(run_.kind)
        assert {"url", "email", "measure", "emoji", "emoticon", "time", "punctuation"} <= pieces
        first = output.read_bytes()
        assert run(TYPED_RUNS, *given) == (0, "")
        assert output.read_bytes() == first
        empty = tmp_path / "empty"
        empty.mkdir()
        told = fault_of(TYPED_RUNS, empty, tmp_path / "a.spacy", tmp_path / "b.spacy")
        assert f"{empty} has no .spacy file" in told


class TestDistillation:
    def test_raw_sentences_of_a_folder_each_once(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("他们昨天来了。他们今天走了！\n短。\n", "utf-8")
        (tmp_path / "b.txt").write_text("他们今天走了！\n她说：“明天再来。”\n", "utf-8")
        target = tmp_path / "made/own.txt"
        assert run(RAW_SENTENCES, target, tmp_path) == (0, "")
        assert target.read_text("utf-8").splitlines() == [
            "他们昨天来了。", "他们今天走了！", "她说：“明天再来。”",
        ]  # fmt: skip

    def test_a_sample_of_the_folder_of_corpora(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "raw").mkdir()
        lines = [f"这是第{i}个句子。" for i in range(50)]
        with lzma.open(tmp_path / "raw/many.txt.xz", "wt", encoding="utf-8") as stream:
            stream.write("\n".join(lines))
        monkeypatch.setenv("STRUCTREG_DATA", str(tmp_path))
        for target in ("a.txt", "b.txt"):
            assert run(RAW_SENTENCES, tmp_path / target, "--data", "many:20") == (0, "")
        found = (tmp_path / "a.txt").read_text("utf-8").splitlines()
        assert len(set(found)) == 20
        assert found == [line for line in lines if line in found]
        assert (tmp_path / "b.txt").read_text("utf-8").splitlines() == found
        monkeypatch.delenv("STRUCTREG_DATA")
        assert run(RAW_SENTENCES, tmp_path / "c.txt", "--data", "many:20") == (0, "")
        assert (tmp_path / "c.txt").read_text("utf-8") == ""

    def test_labels_of_a_teacher(self, tmp_path: Path) -> None:
        pytest.importorskip("wapic", reason="needs the extra `teachers`")
        (tmp_path / "in.txt").write_text("他们昨天 来了。\n", "utf-8")
        code, _ = run(TEACH, "wapic", tmp_path / "out.txt", tmp_path / "in.txt")
        assert code == 0
        assert (tmp_path / "out.txt").read_text("utf-8").replace(" ", "") == "他们昨天来了。\n"

    def test_trees_of_sentences_without_one(self, tmp_path: Path) -> None:
        phrases = (Constituent("IP", 0, 3, 1), Constituent("VP", 1, 3, 1))
        gold = ConstituencySentence(("我", "爱", "北京"), ("PN", "VV", "NR"), phrases)
        parser = ConstituencyParser(epochs=3).fit([gold])
        parser.save(tmp_path / "model.srt")
        sentences = [("她 爱 李明", "PN VV NR"), ("北京 来", "NR VV")]
        vocab = Vocab()
        docs = [Doc(vocab, words.split(), tags=tags.split()) for words, tags in sentences]
        with_tree = Doc(vocab, [*gold.words], tags=[*gold.tags])
        write_phrases(with_tree, [Phrase(*each) for each in phrases])
        DocBin(docs=[with_tree, docs[0]], store_user_data=True).to_disk(tmp_path / "a.spacy")
        DocBin(docs=[docs[1]]).to_disk(tmp_path / "b.spacy")
        corpora = tmp_path / "a.spacy", tmp_path / "b.spacy"
        code, _ = run(LABEL_TREES, tmp_path / "o.xz", *corpora, "--model", tmp_path / "model.srt")
        assert code == 0
        with lzma.open(tmp_path / "o.xz", "rt", encoding="utf-8") as lines:
            assert lines.read().splitlines() == [
                parser.predict(words.split(), tags.split()).tree().to_bracket()
                for words, tags in sentences
            ]


class TestPackageMeta:
    @looped("name", ["ud_chinese", "ud_english"])
    def test_facts_and_figures(self, name: str, tmp_path: Path) -> None:
        facts = PROJECTS / name / "configs/package_meta.json"
        metrics, meta = tmp_path / "metrics.json", tmp_path / "new/meta.json"
        report = {"tag_f": 0.9, "las_f": None, "counts": {"gold": 3}, "given": "text"}
        metrics.write_text(json.dumps(report), "utf-8")
        assert run(PACKAGE_META, facts, metrics, meta) == (0, "")
        found = json.loads(meta.read_text("utf-8"))
        assert found.pop("performance") == {"tag_f": 0.9}
        assert found == json.loads(facts.read_text("utf-8"))
        assert found["lang"] == {"ud_chinese": "zh", "ud_english": "en"}[name]

    def test_the_faulty_file_is_named(self, tmp_path: Path) -> None:
        facts = PROJECTS / "ud_english/configs/package_meta.json"
        wrong, broken, meta = (tmp_path / name for name in ("a.json", "b.json", "meta.json"))
        wrong.write_text("{}", "utf-8")
        broken.write_text("{", "utf-8")
        for arguments, fault in [
            ((wrong, wrong), f"{wrong} has no 'lang'"),
            ((facts, wrong), f"{wrong} has no 'counts'"),
            ((facts, broken), f"{broken} is no JSON"),
            ((facts, tmp_path / "none.json"), "none.json"),
        ]:
            assert fault in fault_of(PACKAGE_META, *arguments, meta)
            assert not meta.exists()


class TestPipelineMeta:
    @pytest.fixture
    def report(self, tmp_path: Path) -> Path:
        path = tmp_path / "report.json"
        report = {
            "all": {"sentences": 3, "figures": {"seg_f": 0.95, "ents_f": None}},
            "registers": {"law": {"sentences": 3, "figures": {"seg_f": 0.95}}},
            "variants": {"traditional script": {"missing": "no OpenCC"}},
            "entities": {"LAW": {"gold": 2, "p": 0.5, "r": 1.0, "f": 2 / 3}},
            "typed_runs": {"url": {"cases": 4, "right": 3}},
        }
        path.write_text(json.dumps(report), "utf-8")
        return path

    def test_tags_are_explained_as_in_the_treebank(self, report: Path, tmp_path: Path) -> None:
        pipeline, meta = tmp_path / "pipeline", tmp_path / "new/meta.json"
        nlp = trained_joint(1)
        nlp.to_disk(pipeline)
        assert run(PIPELINE_META, report, pipeline, meta) == (0, "")
        found = json.loads(meta.read_text("utf-8"))
        assert found["performance"] == {"seg_f": 0.95}
        assert "| LAW | 2 | 50.0 | 100.0 | 66.7 |" in found["notes"]
        _, _, tags = found["notes"].partition("## Tags\n\n")
        lines = tags.splitlines()
        assert [line.split("`")[1] for line in lines] == sorted(nlp.tokenizer.model.tags)
        # spaCy's own words for it are those of English tags.
        assert "- `NN`: common noun" in lines

    def test_words_alone(self, report: Path, tmp_path: Path) -> None:
        pipeline, meta = tmp_path / "pipeline", tmp_path / "meta.json"
        trained(passes=1).to_disk(pipeline)
        found = json.loads(report.read_text("utf-8")) | {"entities": {}}
        found["all"]["figures"] = {"seg_f": 0.95, "crossed": 0.0025}
        report.write_text(json.dumps(found), "utf-8")
        assert run(PIPELINE_META, report, pipeline, meta) == (0, "")
        made = json.loads(meta.read_text("utf-8"))
        assert made["performance"] == {"seg_f": 0.95, "crossed": 0.0025}
        assert "|  | sentences | words | gold words crossed |" in made["notes"]
        assert "| all | 3 | 95.0 | 0.25 |" in made["notes"]
        assert "## Tags" not in made["notes"]
        assert "speed" in made["description"]

    def test_the_pipeline_is_named_if_it_is_at_fault(self, report: Path, tmp_path: Path) -> None:
        pipeline, meta = tmp_path / "pipeline", tmp_path / "meta.json"
        spacy.blank("zh").to_disk(pipeline)
        (tmp_path / "empty").mkdir()
        for arguments, fault in [
            ((report, pipeline), f"{pipeline}: its tokenizer has no model"),
            ((report, tmp_path / "empty"), f"{tmp_path / 'empty'} cannot be loaded"),
            ((tmp_path / "empty/none.json", pipeline), "none.json"),
            ((pipeline / "meta.json", pipeline), "is no report"),
        ]:
            told = fault_of(PIPELINE_META, *arguments, meta)
            assert fault in told
            assert report.name not in told
            assert not meta.exists()
