from __future__ import annotations

from collections.abc import Iterator

import pytest
from engines.stack import Stack
from servers import emulated
from servers.surroundings import prepare
from values.programs import FLEET


@pytest.fixture
def stack(cloud: emulated.Emulated) -> Iterator[Stack]:
    """A stack whose program declares one fleet, beside what others have."""
    prepare(cloud)
    made = Stack(cloud, FLEET, "workers")
    yield made
    made.end_plugin()
