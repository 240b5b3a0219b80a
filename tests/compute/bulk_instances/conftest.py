from __future__ import annotations

from collections.abc import Iterator

import emulated
import pytest
from programs import FLEET
from stack import Stack
from surroundings import prepare


@pytest.fixture
def stack(cloud: emulated.Emulated) -> Iterator[Stack]:
    """A stack whose program declares one fleet, beside what others have."""
    prepare(cloud)
    made = Stack(cloud, FLEET, "workers")
    yield made
    made.end_plugin()
