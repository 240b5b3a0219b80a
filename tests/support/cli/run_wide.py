"""What is the same for all processes that share the tests of a run, and therefore computed by one of them."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeVar

import pytest

T = TypeVar("T")


def once_in_a_run(folders: pytest.TempPathFactory, name: str, compute: Callable[[], T]) -> T:
    """Compute a value that can be pickled, or take what another process of this run has computed, and wait for that."""
    with _alone(folders, name) as file:
        if known := file.read():
            value: T = pickle.loads(known)
        else:
            value = compute()
            file.write(pickle.dumps(value))
        return value


@contextmanager
def one_at_a_time(folders: pytest.TempPathFactory, name: str) -> Iterator[None]:
    """Let only one process of this run be in a block with this name."""
    with _alone(folders, f"{name}-lock"):
        yield


@contextmanager
def _alone(folders: pytest.TempPathFactory, name: str) -> Iterator[BinaryIO]:
    """Open a file that all processes of this run share, when no other one has it open; its content is read first."""
    base = folders.getbasetemp()
    path = (base.parent if base.name.startswith("popen-") else base) / f"{name}.pickle"  # pytest-xdist names them so
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file
