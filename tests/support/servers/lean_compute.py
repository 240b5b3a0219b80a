"""`google.cloud.compute_v1`, which loads each class when it is first used: to load all of them takes seconds.

Whoever imports this module first imports the usual names from the usual package.
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib import util
from typing import Any, Final

import google.cloud

_PACKAGE: Final = "google.cloud.compute_v1"
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _found(name: str) -> Any:
    """Load a client from the module of its service, and anything else from that of the types."""
    if name.startswith("_"):
        raise AttributeError(name)
    service, is_client, _ = name.partition("Client")
    place = f"services.{_WORDS.sub('_', service).lower()}" if is_client else "types.compute"
    found = getattr(importlib.import_module(f"{_PACKAGE}.{place}"), name)
    setattr(sys.modules[_PACKAGE], name, found)
    return found


def _install() -> None:
    """Put a package in place whose own module, which imports all others, never runs."""
    spec = util.find_spec(_PACKAGE)
    assert spec is not None, "google-cloud-compute is missing"
    package = util.module_from_spec(spec)
    vars(package)["__getattr__"] = _found
    sys.modules[_PACKAGE] = google.cloud.compute_v1 = package  # type: ignore[attr-defined]


if _PACKAGE not in sys.modules:
    _install()
