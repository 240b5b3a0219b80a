"""A Python host for plugins that are folders: what `pulumi package add FOLDER` needs of a language host.

Pulumi's own host of the CLI's version does not exist as a Go module, and the version that does cannot run plugins for
this CLI. So where the CLI was built from Go modules, this program takes its place. It does what Pulumi's host does, in
the same order; `tests/release` uses Pulumi's own where the CLI was installed with it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from gcpx.protocol.engine import when_ended

_PACKAGES = """
import importlib.metadata, importlib.util, json, pathlib
for found in importlib.metadata.distributions():
    if found.name.lower().startswith("pulumi-"):
        spec = importlib.util.find_spec(found.name.replace("-", "_"))
        folders = spec.submodule_search_locations if spec else ()
        files = [pathlib.Path(folder, "pulumi-plugin.json") for folder in folders]
        about = next((json.loads(file.read_text()) for file in files if file.is_file()), {"resource": True})
        if about["resource"]:
            print(json.dumps([about.get("name") or found.name.lower().removeprefix("pulumi-"), found.version]))
"""
"""Names each plugin that the installed distributions belong to: `pulumi-NAME` to NAME, if its file says nothing else."""


class Environment:
    """The virtual environment of a plugin's folder."""

    def __init__(self, folder: str, options: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / options.get("virtualenv", "venv")
        self.python = str(self.path / "bin" / "python")

    def ensure(self) -> Iterator[bytes]:
        """Make the environment if there is none; yields what the commands print."""
        if not Path(self.python).exists():
            yield from self.install()

    def install(self) -> Iterator[bytes]:
        """Make the environment, and install what requirements.txt names."""
        yield from self._run("python3", "-m", "venv", str(self.path))
        yield from self.pip("install", "--upgrade", "pip", "setuptools", "wheel")
        yield from self.pip("install", "-r", "requirements.txt")

    def pip(self, *arguments: str) -> Iterator[bytes]:
        """Run pip in the environment."""
        yield from self._run(self.python, "-m", "pip", *arguments)

    def packages(self) -> list[list[str]]:
        """Return the name and version of each plugin that what is installed requires."""
        done = subprocess.run([self.python, "-c", _PACKAGES], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _run(self, *command: str) -> Iterator[bytes]:
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        yield done.stdout
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stdout.decode()}")


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    def GetPluginInfo(self, _request: Any, _: grpc.ServicerContext) -> Any:  # noqa: N802 - the protocol names it
        return plugin_pb2.PluginInfo(version="3.0.0")

    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 - likewise
        environment = _environment(request)
        try:
            list(environment.ensure())
        except RuntimeError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))
        found = [
            language_pb2.PackageDependency(name=name, kind="resource", version=f"v{version}")
            for name, version in environment.packages()
        ]
        return language_pb2.GetRequiredPackagesResponse(packages=found)

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802 - likewise
        environment = _environment(request)
        try:
            for step in (environment.ensure(), environment.pip("install", "."), environment.install()):
                for text in step:
                    yield language_pb2.InstallDependenciesResponse(stdout=text)
        except RuntimeError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    def RunPlugin(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802 - likewise
        environment = _environment(request)
        command = [environment.python, str(environment.folder), *request.args]
        variables = dict(line.split("=", 1) for line in request.env)
        plugin = subprocess.Popen(
            command, cwd=request.pwd, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        context.add_callback(plugin.terminate)
        said: queue.Queue[Any] = queue.Queue()
        readers = [
            threading.Thread(target=_forward, args=(name, stream, said), daemon=True)
            for name, stream in (("stdout", plugin.stdout), ("stderr", plugin.stderr))
        ]
        for reader in readers:
            reader.start()
        left = len(readers)
        while left:
            message = said.get()
            left -= message is None
            if message is not None:
                yield message
        yield language_pb2.RunPluginResponse(exitcode=plugin.wait())


def _environment(request: Any) -> Environment:
    return Environment(request.info.program_directory, dict(request.info.options))


def _forward(name: str, stream: Any, said: queue.Queue[Any]) -> None:
    for line in stream:
        said.put(language_pb2.RunPluginResponse(**{name: line}))
    said.put(None)


def main() -> None:
    server = grpc.server(ThreadPoolExecutor(64))
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Host(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    when_ended(sys.argv[-1], lambda: os._exit(0))  # a CLI that is killed tells nobody
    server.wait_for_termination()


if __name__ == "__main__":
    main()
