from __future__ import annotations

from collections.abc import Iterator

import pytest
from engines.inventory import Inventory
from engines.stack import Stack
from servers.emulated import Emulated
from servers.surroundings import make_surroundings


@pytest.fixture
def before(cloud: Emulated) -> Inventory:
    """What exists besides the stack: what the programs of all samples need, and what others have."""
    make_surroundings(cloud)
    return Inventory.of(cloud)


@pytest.fixture
def stack(cloud: Emulated, before: Inventory) -> Iterator[Stack]:
    """An empty stack."""
    made = Stack(cloud)
    yield made
    made.end_plugin()
