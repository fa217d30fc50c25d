"""Template tables of the word tagger, as data; their atoms are those of `tasks.tagging`."""

from __future__ import annotations

HISTORY = "tag: t-1 | t-2 t-1 | w0 t-1"
WORDS = HISTORY + "|tag: w0 | w-1 | w+1 | w-2 | w+2 | w-1 w0 | w0 w+1 | w-1 w+1|" +"""tag: start(w0) | end(w0) | prefix2(w0) | suffix2(w0) | prefix3(w0) | suffix3(w0) | len(w0) | chars(w0) | start(w0) len(w0) | end(w0) len(w0) | kinds(w0)| repeated(w0) | catstart(w0) | catend(w0) | catstart(w0) catend(w0)"""

TAGGER_TABLES = {"words": WORDS}
"""Tables that a tagger may name instead of listing templates."""
