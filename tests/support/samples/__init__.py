"""A sample of every resource: one module each, named like the resource's own module."""

from __future__ import annotations

import importlib
import pkgutil

from sample import Sample

_NAMES = [module.name for module in pkgutil.iter_modules(__path__)]
SAMPLES: dict[str, Sample] = {name: importlib.import_module(f"{__name__}.{name}").SAMPLE for name in _NAMES}
"""The samples by the names of their modules."""
BY_TOKEN = {sample.token: sample for sample in SAMPLES.values()}
"""The samples by the tokens of their resources."""
INPUTS = {token: sample.inputs for token, sample in BY_TOKEN.items()}
"""Small valid inputs of every resource, by its token."""
