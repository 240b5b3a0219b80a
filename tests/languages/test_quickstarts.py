"""The quickstart is the same program in every language, and the real CLI runs it from creation to destruction."""

from __future__ import annotations

import json

import attrs
import pytest
from generate import sdk
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.languages, pytest.mark.pulumi]


@attrs.frozen
class Language:
    """How a program gets its SDK.

    Attributes:
        example: the folder in `examples`.
        sdk: the language of the SDK below `sdks/gcpx`, where `pulumi package add` would write it; empty for none.
        prepare: commands that install dependencies and check the program before the CLI runs it.
    """

    example: str
    sdk: str = ""
    prepare: tuple[tuple[str, ...], ...] = ()


_GENERATED = {"fleetId", "name"}
"""The inputs that get a random suffix."""
_NPM = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
LANGUAGES = [
    Language("quickstart-go", "go", (("go", "vet", "."), ("go", "build", "-o", "quickstart", "."))),
    Language("quickstart-typescript", "nodejs", (_NPM, ("npx", "--no-install", "tsc", "--noEmit"))),
    Language("quickstart-yaml"),
]


def _planned(workspace):
    """Return what a preview plans to create: inputs by type and name, without generated names and settings."""
    steps = json.loads(workspace.run("preview", "--json").stdout)["steps"]
    states = [step["newState"] for step in steps if step["newState"]["type"].startswith("gcpx:")]
    return {state["urn"].split("::", 2)[2]: _own(state["inputs"]) for state in states}


def _own(inputs):
    return {name: value for name, value in inputs.items() if name not in _GENERATED and not name.startswith("__")}


@pytest.fixture
def prepared(cloud, tmp_path, pulumi_home, run):
    """A workspace for a program, with its SDK and its dependencies."""
    cloud.make_disk()
    cloud.make_instance()

    def make(language: Language) -> Workspace:
        made = Workspace.make(ROOT / "examples" / language.example, tmp_path / language.example, cloud.host, pulumi_home)
        if language.sdk:
            sdk.write(made.program / "sdks" / "gcpx", language=language.sdk)
        for command in language.prepare:
            run(*command, folder=made.program)
        return made

    return make


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.example)
def test_a_quickstart_creates_what_pythons_does_shows_no_change_and_is_destroyed(language, cloud, prepared):
    before = cloud.emulator.store.counts()
    pythons = _planned(prepared(Language("quickstart")))
    workspace = prepared(language)

    assert _planned(workspace) == pythons
    said = workspace.run("up", "--yes", "--skip-preview").stdout
    workspace.run("preview", "--expect-no-changes")
    outputs = json.loads(workspace.run("stack", "output", "--json").stdout)

    assert "warning" not in said
    assert len(outputs) == 6
    assert all(outputs.values())
    workspace.run("destroy", "--yes", "--skip-preview")
    assert cloud.emulator.store.counts() == before
