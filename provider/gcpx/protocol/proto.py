"""Pulumi's generated messages and services, loaded without the rest of the SDK.

`import pulumi` loads several hundred modules, which triples the start time of a plugin that needs only the messages. So
empty stand-ins replace the parent packages while the messages load. They are removed afterwards, so that a later
`import pulumi` in the same process, such as a test with the Automation API, loads the real package.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

_PARENTS = ("pulumi", "pulumi.runtime", "pulumi.runtime.proto")


def _load() -> dict[str, Any]:
    stand_ins = () if "pulumi" in sys.modules else _PARENTS
    if stand_ins:
        found = importlib.util.find_spec("pulumi")
        if found is None or found.origin is None:
            raise ImportError("gcpx needs the protocol messages of the package `pulumi`; run `pip install pulumi`")
        for name in stand_ins:
            module = types.ModuleType(name)
            module.__path__ = [str(Path(found.origin).parent.joinpath(*name.split(".")[1:]))]
            sys.modules[name] = module
    names = ("engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc")
    try:
        return {name: importlib.import_module(f"pulumi.runtime.proto.{name}") for name in names}
    finally:
        for name in stand_ins:
            del sys.modules[name]


_modules = _load()
engine = _modules["engine_pb2"]
engine_grpc = _modules["engine_pb2_grpc"]
plugin = _modules["plugin_pb2"]
provider = _modules["provider_pb2"]
provider_grpc = _modules["provider_pb2_grpc"]
