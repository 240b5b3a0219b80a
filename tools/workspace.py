"""The real Pulumi CLI on a state of its own: used by the demo, the tests and the benchmarks."""

from __future__ import annotations

import json
import os
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


def pulumi_folder() -> Path:
    """Find the CLI, as `make setup` does."""
    command = [sys.executable, str(ROOT / "tools" / "pulumi" / "setup.py")]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def environment(folder: Path, home: Path, state: Path) -> dict[str, str]:
    """Give the variables under which `pulumi` works without account, network and credentials."""
    return {
        "PATH": os.pathsep.join((str(folder), str(SCRIPTS), os.environ.get("PATH", ""))),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": f"file://{state}",
        "PULUMI_CONFIG_PASSPHRASE": "demo",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # The plugin of PULUMI_HOME, not the one that the virtual environment has on PATH: that would warn every time.
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
    }


@contextmanager
def emulator(*options: str) -> Iterator[str]:
    """Run an emulator; gives its address."""
    command = [sys.executable, "-m", "gcpx_emulator", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().removeprefix("listening on http://")
        finally:
            process.terminate()


@attrs.frozen
class Workspace:
    """One program with one stack.

    Attributes:
        program: the folder with Pulumi.yaml.
        variables: added to the process's environment.
    """

    program: Path
    variables: Mapping[str, str]

    @classmethod
    def make(cls, source: Path, root: Path, host: str, home: Path | None = None) -> Workspace:
        """Copy a program to a folder of its own and give it a state and a stack."""
        root.mkdir(parents=True, exist_ok=True)
        program, state = root / "program", root / "state"
        shutil.copytree(source, program)
        state.mkdir()
        variables = environment(pulumi_folder(), home or root / "home", state)
        made = cls(program, {**variables, "GCPX_EMULATOR_HOST": host, "GOOGLE_PROJECT": PROJECT})
        if home is None:
            made.install_plugin(root)
        made.run("stack", "init", "dev")
        return made

    def install_plugin(self, root: Path) -> None:
        """Put the plugin into PULUMI_HOME, as its installation does; from PATH the CLI would take it with a warning."""
        from gcpx import __version__  # noqa: PLC0415 - not every user of this module has the plugin

        folder = root / "plugin"
        folder.mkdir(exist_ok=True)
        shutil.copy(SCRIPTS / "pulumi-resource-gcpx", folder)
        self.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(folder))

    def run(
        self, *arguments: str, check: bool = True, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the CLI; fails with its output unless told otherwise."""
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
        """Export the stack."""
        exported: dict[str, Any] = json.loads(self.run("stack", "export").stdout)
        return exported
