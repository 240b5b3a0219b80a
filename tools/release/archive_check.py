"""Checks the plugin in an archive on this machine: `python -m release.archive_check FOLDER [DOWNLOAD_URL]`.

It is unpacked and started as the engine starts it, without Python or anything else on PATH.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import grpc
from generate import package_schema
from google.protobuf import empty_pb2

from gcpx import __version__
from gcpx.protocol import proto
from release import plugin_archive
from release.download_url import checked
from release.frozen_plugin import NAME

_LONGEST: Final = 120
"""Seconds after which a plugin without an answer is stopped."""
_LIMITS: Final = [("grpc.max_receive_message_length", 400 << 20)]  # the engine's own limit


class BrokenPluginError(Exception):
    """The plugin does not start or does not answer."""


def problems(archive: Path, schema: str) -> Iterator[str]:
    """Return the problems of an archive; its plugin must have the schema `schema`."""
    if not archive.exists():
        yield f"{archive.name} is missing"
        return
    with tempfile.TemporaryDirectory() as scratch:
        try:
            unpack(archive, Path(scratch))
            with started(Path(scratch)) as stub:
                version, given = _answers(stub)
        except (OSError, tarfile.TarError, BrokenPluginError, grpc.RpcError) as error:
            yield f"the plugin of {archive.name} does not start: {error}"
            return
    if version != __version__:
        yield f"the plugin of {archive.name} has the version {version}, not {__version__}"
    if given != schema:
        yield f"the plugin of {archive.name} does not give the schema of this checkout: {_difference(given, schema)}"


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive as `pulumi plugin install` does."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


@contextmanager
def started(folder: Path) -> Iterator[proto.provider_grpc.ResourceProviderStub]:
    """Start the plugin in a folder; yields a stub for calls.

    Raises:
        BrokenPluginError: the process ended without printing its port.
        OSError: the plugin is missing, or is not a program for this machine.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PATH": ""}
    command = [str(folder / NAME), "127.0.0.1:1"]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        alarm = threading.Timer(_LONGEST, process.kill)
        alarm.start()
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            if not port.isdigit():
                raise BrokenPluginError(_last_line(process) or "it prints no port")
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_LIMITS) as channel:
                yield proto.provider_grpc.ResourceProviderStub(channel)
        finally:
            alarm.cancel()
            process.kill()


def _last_line(process: subprocess.Popen[str]) -> str:
    process.kill()
    assert process.stderr is not None
    return (process.stderr.read().strip().splitlines() or [""])[-1]


def _answers(stub: proto.provider_grpc.ResourceProviderStub) -> tuple[str, str]:
    """Return the plugin's version and schema."""
    version = stub.GetPluginInfo(empty_pb2.Empty(), wait_for_ready=True, timeout=_LONGEST).version
    return version, stub.GetSchema(proto.provider.GetSchemaRequest(), timeout=_LONGEST).schema


def _difference(given: str, schema: str) -> str:
    one, other = json.loads(given or "{}"), json.loads(schema)
    return ", ".join(sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key)))


if __name__ == "__main__":
    found = list(
        problems(plugin_archive.path_in(Path(sys.argv[1])), package_schema.text(checked("".join(sys.argv[2:3]))))
    )
    if found:
        sys.exit("\n".join(found))
    print(f"{plugin_archive.path_in(Path(sys.argv[1])).name} starts and gives its schema")
