"""Template files of CRF++, as another spelling of the templates of this package."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MACRO = re.compile(r"%x\[\s*([+-]?[0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\]")
_LINE = re.compile(r"([UB])[^:%]*:(.+)")


def parse_crfpp(text: str, columns: Sequence[str], source: str = "template file") -> list[str]:
    """Translate a CRF++ template file into the notation of `features.templates`.

    text: the contents of the file. ``U…:%x[row,column]/…`` and ``B…:%x[row,column]/…`` lines and a
        bare ``B`` are understood; ``#`` begins a comment line.
    columns: the name of the atom that stands in each column of the CRF++ data, e.g. ``["c"]``.
    source: what to call the file in an error.
    Raises ValueError, with the line number, for lines of any other form.
    """
    templates: list[str] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line == "B":
            templates.append("t-1t0")
            continue
        match = _LINE.fullmatch(line)
        macros = _MACRO.findall(match[2]) if match else []
        if match is None or not macros or _MACRO.sub("", match[2]).strip("/ "):
            raise ValueError(
                f"{source}:{number}: {line!r} is not understood; write lines like "
                "'U05:%x[-1,0]/%x[0,0]' or 'B05:%x[0,0]', or 'B' alone for the tag bigram"
            )
        atoms = ["t-1t0"] if match[1] == "B" else []
        for row, column in macros:
            if int(column) >= len(columns):
                raise ValueError(
                    f"{source}:{number}: column {column} does not exist; the model has "
                    f"{', '.join(f'{i} ({name})' for i, name in enumerate(columns))}"
                )
            atoms.append(f"{columns[int(column)]}{int(row):+d}")
        templates.append("".join(atoms))
    if not templates:
        raise ValueError(f"{source}: no template in it; write lines like 'U00:%x[0,0]'")
    return templates
