"""Programs as data, which the real CLI runs through its YAML host, so that no Python process has to start for each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from workspace import Workspace


@attrs.frozen
class Step:
    """A planned step in the CLI's JSON output: its operation, and the kind of change by path."""

    op: str
    urn: str
    changes: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.urn.rpartition("::")[2]


@attrs.frozen
class Stack:
    """A program with its stack and state."""

    workspace: Workspace

    @classmethod
    def make(cls, root: Path, host: str, home: Path) -> Stack:
        source = root / "source"
        source.mkdir()
        (source / "Pulumi.yaml").write_text(json.dumps({"name": "test", "runtime": "yaml"}))
        return cls(Workspace.make(source, root, host, home))

    def copied(self, root: Path, host: str) -> Stack:
        """Copy a stack that has not been used yet, which takes less time than to make one."""
        before = self.workspace.program.parent
        for name in ("program", "state"):
            shutil.copytree(before / name, root / name)
        own = {"PULUMI_BACKEND_URL": f"file://{root / 'state'}", "PULUMI_STACK": "dev", "GCPX_EMULATOR_HOST": host}
        return Stack(Workspace(root / "program", {**self.workspace.variables, **own}))

    def write(self, *, provider: dict[str, Any] | None = None, **resources: dict[str, Any]) -> None:
        """Write the program: resources by name, each with its type, properties and options."""
        program = {"name": "test", "runtime": "yaml", "resources": resources}
        (self.workspace.program / "Pulumi.yaml").write_text(json.dumps(program | (provider or {})))

    def up(self, *arguments: str, **more: Any) -> str:
        return self.workspace.run("up", "--yes", "--skip-preview", *arguments, **more).stdout

    def up_fails(self, *arguments: str, **more: Any) -> str:
        """Run `up` and expect it to fail; return all its output."""
        done = self.workspace.run("up", "--yes", "--skip-preview", *arguments, check=False, **more)
        assert done.returncode, done.stdout
        return done.stdout + done.stderr

    def preview_fails(self, **more: Any) -> str:
        done = self.workspace.run("preview", check=False, **more)
        assert done.returncode, done.stdout
        return done.stdout + done.stderr

    def preview(self) -> dict[str, Step]:
        """Run a preview; return the steps by resource, without resources that do not change."""
        return self._steps(self.workspace.run("preview", "--json").stdout)

    def preview_refresh(self) -> dict[str, Step]:
        """Preview a refresh; return the steps by resource."""
        return self._steps(self.workspace.run("refresh", "--preview-only", "--json").stdout)

    def _steps(self, text: str) -> dict[str, Step]:
        steps = {}
        for step in json.loads(text).get("steps", ()):
            found = Step(
                step["op"], step["urn"], {path: diff["kind"] for path, diff in (step.get("detailedDiff") or {}).items()}
            )
            if found.op not in {"same", "refresh"} or found.changes:
                steps.setdefault(found.name, found)
        return {name: step for name, step in steps.items() if not name.startswith("test-dev")}

    def assert_no_changes(self) -> None:
        """Assert that neither the cloud nor the program differs from the state."""
        self.workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
        self.workspace.run("preview", "--expect-no-changes")

    def resource(self, name: str) -> dict[str, Any]:
        """Return a resource from the state."""
        return next(item for item in self.resources() if item["urn"].endswith(f"::{name}") and item.get("custom"))

    def resources(self) -> list[dict[str, Any]]:
        """Return everything in the state, as it is stored on disk; to export it, the CLI would have to start."""
        found: list[dict[str, Any]] = json.loads(self.state_file())["checkpoint"]["latest"].get("resources", [])
        return found

    def state_file(self) -> str:
        """Return the state as it is stored on disk; the CLI may mask what it prints."""
        (path,) = (self.workspace.program.parent / "state" / ".pulumi" / "stacks").rglob("dev.json")
        return path.read_text()

    def destroy(self) -> None:
        self.workspace.run("destroy", "--yes", "--skip-preview")
