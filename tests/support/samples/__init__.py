"""A sample of every resource: one module each, named like the resource's own module."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from values.sample import Sample

SAMPLES: dict[str, Sample] = {}
"""The samples by the names of their modules."""
BY_TOKEN: dict[str, Sample] = {}
"""The samples by the tokens of their resources."""
INPUTS: dict[str, dict[str, Any]] = {}
"""Small valid inputs of every resource, by its token."""


def register(name: str, sample: Sample) -> None:
    """Add the sample of a module."""
    SAMPLES[name] = BY_TOKEN[sample.token] = sample
    INPUTS[sample.token] = sample.inputs


for _module in pkgutil.iter_modules(__path__):
    register(_module.name, importlib.import_module(f"{__name__}.{_module.name}").SAMPLE)
