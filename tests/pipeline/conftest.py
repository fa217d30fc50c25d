"""What the tests of components share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from spacy.tokens.underscore import Underscore


@pytest.fixture
def extensions() -> Iterator[None]:
    """Begin without extensions of spaCy, and leave those that there were."""
    before = Underscore.get_state()
    Underscore.load_state(({}, {}, {}))
    yield
    Underscore.load_state(before)
