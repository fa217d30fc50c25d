"""Label Studio's exports JSON and JSON-MIN: a list of tasks, each a text and what was annotated.

    [{"data": {"text": "我在临江市"}, "annotations": [{"result": [{"type": "labels", "value":
      {"start": 2, "end": 5, "text": "临江市", "labels": ["CITY"]}}]}]}]
    [{"text": "我在临江市", "label": [{"start": 2, "end": 5, "text": "临江市",
      "labels": ["CITY"]}]}]

Earlier versions say ``completions`` for annotations. Of several annotations of a task, the one that
is marked as ground truth counts, or the last one; those that were skipped do not. Tasks without any
are left out, and so is what else is said of a text or of its spans: choices, ratings, texts and
relations. What is written are tasks with ``predictions``, to be imported as pre-annotations of
``<Labels name="label" toName="text">`` and ``<Text name="text" value="$text"/>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import srsly  # type: ignore[import-untyped]

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import read_text, write_texts
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.text_spans import (
    TextSpan,
    marked_text,
    parse_json,
    sentences_of_text,
    span_of,
)

SUFFIX: Final = ".json"
ANNOTATIONS: Final = ("annotations", "completions")
# Types of results that label spans, and the keys of their labels; those of HTML and of dialogues
# are read to be refused. Others are choices, ratings and the like, of a span or the whole text.
TYPES: Final = frozenset({"labels", "hypertextlabels", "paragraphlabels"})
# Of JSON-MIN, what is no text though it is a string.
DATES: Final = ("created_at", "updated_at")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the lines of the texts of annotated tasks, with their spans as entities.

    Raises CorpusError, naming the task, for what is no text with spans of characters (as HTML and
    dialogues), spans whose text is another one than the text has there, and as
    `sentences_of_text`; for spans without a label, for something else than a list of tasks, and if
    none is annotated. Otherwise as `read_text`.
    """
    text = read_text(path, encoding=options.encoding)
    try:
        tasks = parse_json(text)
    except ValueError as error:
        raise CorpusError(path, 1, f"{error}; export JSON or JSON-MIN") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise CorpusError(path, 1, "the file is no list of tasks; export JSON or JSON-MIN")
    empty = True
    for number, task in enumerate(tasks, 1):
        name = f"task {task.get('id', number)!r:.40}"
        try:
            if (regions := regions_of(task)) is None:
                continue
            empty = False
            data_of_task = task.get("data", task)
            if not isinstance(data_of_task, dict):
                raise ValueError("'data' is no object; mend it")
            text = text_of(data_of_task)
            chosen = [span for region in regions for span in spans_of(text, region)]
            yield from sentences_of_text(text, chosen)
        except ValueError as error:
            raise CorpusError(path, 1, f"{name}: {error}") from error
    if empty:
        raise CorpusError(path, 1, "no task in the file is annotated; annotate some")


def regions_of(task: Mapping[str, Any]) -> list[Any] | None:
    """The values of what is annotated in a task; None if nobody has annotated it."""
    key = next((key for key in ANNOTATIONS if key in task), None)
    if key is None:
        if "data" in task:
            return None
        lists = [each for each in task.values() if isinstance(each, list)]
        # An untouched task of JSON-MIN has no such key; one that was submitted has its number.
        if not lists and "annotation_id" not in task:
            return None
        values = [value for each in lists for value in each if _is_region(value)]
        return [value for value in values if not TYPES.isdisjoint(value)]
    listed = task[key]
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ValueError(f"{key!r} is no list of objects; mend it")
    done = [each for each in listed if not each.get("was_cancelled")]
    if not done:
        return None
    result = next((each for each in done if each.get("ground_truth")), done[-1]).get("result")
    if not isinstance(result, list) or not all(isinstance(each, dict) for each in result):
        raise ValueError("'result' of an annotation is no list of objects; mend it")
    labeled = [each.get("value") for each in result if str(each.get("type", "labels")) in TYPES]
    return [value for value in labeled if _is_region(value)]


def _is_region(value: Any) -> bool:
    return isinstance(value, dict) and "start" in value and "end" in value


def text_of(data: Mapping[str, Any]) -> str:
    """The text of a task: ``text``, or its one string. Raises ValueError if there are several."""
    if isinstance(data.get("text"), str):
        return str(data["text"])
    found = [key for key, value in data.items() if isinstance(value, str) and key not in DATES]
    if len(found) != 1:
        raise ValueError(
            f"there is no string 'text', and the strings {', '.join(map(repr, found)) or 'none'}; "
            "name the text 'text'"
        )
    return str(data[found[0]])


def spans_of(text: str, region: Mapping[str, Any]) -> list[TextSpan]:
    """The span of a region, for each of its labels."""
    begin, end, labels = region["start"], region["end"], region.get("labels")
    if not type(begin) is type(end) is int or not isinstance(labels, list | None):
        raise ValueError(
            "a region is no labeled span of characters of a plain text (those of HTML and "
            "dialogues are none); annotate with Labels for a Text"
        )
    if not labels:
        raise ValueError(
            f"the span {region.get('text')!r:.40} at {begin}-{end} has no label; give it one, or "
            "remove it"
        )
    said = region.get("text", text[begin:end] if 0 <= begin <= end else None)
    if text[max(0, begin) : max(0, end)] != said:
        # Browsers count characters beyond the first 65,536 twice.
        units = text.encode("utf-16-le", "surrogatepass")
        before = units[: 2 * max(0, begin)].decode("utf-16-le", "replace")
        begin, end = len(before), len(units[: 2 * max(0, end)].decode("utf-16-le", "replace"))
        if text[begin:end] != said:
            raise ValueError(
                f"the span {said!r:.40} does not stand at {region['start']}-{region['end']} of the "
                "text; annotate it again, or leave it out"
            )
    return [span_of(begin, end, label) for label in labels]


def task_of(text: str, spans: Iterable[TextSpan]) -> dict[str, Any]:
    """A task of a text, with its spans as a prediction."""
    result = [
        {
            "id": str(number),
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": begin, "end": end, "text": text[begin:end], "labels": [label]},
        }
        for number, (begin, end, label) in enumerate(spans)
    ]
    predictions = [{"model_version": "spacy_structreg", "result": result}]
    return {"data": {"text": text}, "predictions": predictions}


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write a task for each sentence, as of `task_of`."""

    def texts() -> Iterator[str]:
        opened = "["
        for sentence in sentences:
            yield f"{opened}\n{srsly.json_dumps(task_of(*marked_text(sentence)))}"
            opened = ","

    write_texts(path, texts(), end="\n]\n")


FORMAT: Final = Format(
    "label-studio",
    "Label Studio's JSON or JSON-MIN: texts and their labeled spans",
    rank=6,
    read=read,
    suffixes=(SUFFIX,),
    written_suffix=SUFFIX,
    write=write,
    writes_unknown=True,
)
"""Name, recognition, reader and writer of the format."""
