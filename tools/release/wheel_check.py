"""Checks that the wheels of a release agree about version, schema and download URL."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gcpx import __version__

_PLUGIN: Final = "pulumi_gcpx_provider"
_SDK: Final = "pulumi_gcpx"
_WHEELS: Final = ("gcpx_emulator", "gcpx_filter", "gcpx_http", "gcpx_push", _SDK, _PLUGIN)


def problems(folder: Path, schema: str) -> Iterator[str]:
    """Return the problems of the wheels in a folder, which must match the text of a schema."""
    missing = [name for name in _WHEELS if not _path(folder, name).exists()]
    yield from (f"{_path(folder, name).name} is missing" for name in missing)
    if _PLUGIN not in missing and _read(folder, _PLUGIN, "gcpx/schema.json") != schema:
        yield f"{_path(folder, _PLUGIN).name} contains another schema than the one of this checkout"
    if _SDK not in missing:
        found, wanted = json.loads(_read(folder, _SDK, f"{_SDK}/pulumi-plugin.json")), _descriptor(schema)
        if found != wanted:
            yield f"{_path(folder, _SDK).name} names the plugin {found}, not {wanted}"


def _descriptor(schema: str) -> dict[str, object]:
    """Return the content of `pulumi-plugin.json`, by which the CLI finds an SDK's plugin."""
    package = json.loads(schema)
    server = {"server": package["pluginDownloadURL"]} if "pluginDownloadURL" in package else {}
    return {"resource": True, "name": package["name"], "version": package["version"], **server}


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}-{__version__}-py3-none-any.whl"


def _read(folder: Path, name: str, member: str) -> str:
    with zipfile.ZipFile(_path(folder, name)) as wheel:
        return wheel.read(member).decode()
