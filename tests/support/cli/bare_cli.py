"""The real Pulumi CLI of a user who has nothing else: an empty home, and a PATH with the CLI and the host of YAML."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from values.programs import PROJECT
from workspace import pulumi_folder


@attrs.frozen
class BareCli:
    """The CLI, and a folder for its home, its state and a program.

    Attributes:
        variables: the whole environment.
    """

    folder: Path
    variables: Mapping[str, str]

    @classmethod
    def make(cls, folder: Path, host: str) -> BareCli:
        """Prepare the folder; the plugin calls the emulator at `host`."""
        for name in ("bin", "state", "program"):
            (folder / name).mkdir()
        for name in ("pulumi", "pulumi-language-yaml"):
            (folder / "bin" / name).symlink_to(pulumi_folder() / name)
        variables = {
            "HOME": str(folder),
            "PULUMI_HOME": str(folder / ".pulumi"),  # the CLI may take the home of the account, whatever HOME is
            "PATH": str(folder / "bin"),
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "demo",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "GCPX_EMULATOR_HOST": host,
            "GOOGLE_PROJECT": PROJECT,
        }
        return cls(folder, variables)

    def write(self, program: dict[str, Any]) -> None:
        """Write the program, which YAML accepts as JSON."""
        (self.folder / "program" / "Pulumi.yaml").write_text(json.dumps({"runtime": "yaml", **program}))

    def run(self, *arguments: str) -> str:
        """Run the CLI; return what it prints to standard output."""
        done = self.attempt(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the CLI, which may fail."""
        command = [str(self.folder / "bin" / "pulumi"), *arguments, "--non-interactive", "--color", "never"]
        return subprocess.run(
            command, cwd=self.folder / "program", env=dict(self.variables), capture_output=True, text=True, check=False
        )
