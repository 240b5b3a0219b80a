"""The real Pulumi CLI with a separate state, for the demo, the tests and the benchmarks."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

ROOT: Final = Path(__file__).parents[1]
SCRIPTS: Final = Path(sys.executable).parent
PROJECT: Final = "demo-project"
_LONGEST: Final = 1200
_RUNTIME: Final = re.compile(r"\bruntime\W+(?:name\W+)?(\w+)")
"""The language in Pulumi.yaml: `runtime: go`, or `name` in the lines below `runtime:`."""


@functools.cache
def pulumi_setup(*arguments: str) -> str:
    """Run the set-up of the Pulumi CLI, which builds missing programs; return its output."""
    command = [sys.executable, str(ROOT / "tools" / "pulumi" / "setup.py"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def pulumi_folder(*languages: str) -> Path:
    """Find the folder of the Pulumi CLI and the hosts of these languages; build missing programs."""
    return Path(pulumi_setup(*languages))


def language_of(program: Path) -> str:
    """Return the language of a program, the `runtime` in its Pulumi.yaml, such as `nodejs`."""
    return str(_RUNTIME.findall((program / "Pulumi.yaml").read_text())[0])


def environment(folder: Path, home: Path, state: Path) -> dict[str, str]:
    """Return environment variables with which `pulumi` needs no account, network or credentials."""
    return {
        "PATH": os.pathsep.join((str(folder), str(SCRIPTS), os.environ.get("PATH", ""))),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": f"file://{state}",
        "PULUMI_CONFIG_PASSPHRASE": "demo",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Use the plugin in PULUMI_HOME. For the one on PATH, in the virtual environment, the CLI prints a warning.
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
    }


@contextmanager
def emulator(*options: str) -> Iterator[str]:
    """Run a strict emulator in a process; yields its host and port."""
    command = [sys.executable, "-m", "gcpx_emulator", "--strict", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().removeprefix("listening on http://")
        finally:
            process.terminate()


@attrs.frozen
class Workspace:
    """A program with one stack.

    Attributes:
        program: the folder with Pulumi.yaml.
        variables: environment variables in addition to those of this process.
    """

    program: Path
    variables: Mapping[str, str]

    @classmethod
    def make(cls, source: Path, root: Path, host: str, home: Path | None = None) -> Workspace:
        """Copy the program in `source` below `root`, and create a stack for it.

        The stack uses the emulator at `host`. Without `home`, create a PULUMI_HOME with the plugin.
        """
        root.mkdir(parents=True, exist_ok=True)
        program, state = root / "program", root / "state"
        shutil.copytree(source, program, ignore=shutil.ignore_patterns("node_modules", "sdks"))
        state.mkdir()
        variables = environment(pulumi_folder(language_of(source)), home or root / "home", state)
        made = cls(program, {**variables, "GCPX_EMULATOR_HOST": host, "GOOGLE_PROJECT": PROJECT})
        if home is None:
            made.install_plugin(root)
        made.run("stack", "init", "dev")
        return made

    def install_plugin(self, root: Path) -> None:
        """Install the plugin into PULUMI_HOME, because the CLI prints a warning for a plugin on PATH."""
        from gcpx import __version__  # noqa: PLC0415 - not every user of this module has the plugin

        folder = root / "plugin"
        folder.mkdir(exist_ok=True)
        shutil.copy(SCRIPTS / "pulumi-resource-gcpx", folder)
        self.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(folder))

    def run(
        self, *arguments: str, check: bool = True, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the CLI; raises RuntimeError with its output if it fails, unless `check` is false."""
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.program,
            env={**os.environ, **self.variables, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"pulumi {' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}")
        return done

    def state(self) -> dict[str, Any]:
        """Return the exported stack."""
        exported: dict[str, Any] = json.loads(self.run("stack", "export").stdout)
        return exported
