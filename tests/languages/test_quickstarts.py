"""The quickstart is the same program in every language, and the real CLI runs it from creation to destruction.

What is compiled with it: the program of docs/languages.md, and the examples of all resources and functions.
"""

from __future__ import annotations

import json
import shutil

import attrs
import pytest
from cli import run_wide
from cli.documented import commands, program
from generate import examples, sdk
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.languages, pytest.mark.pulumi]


DOCUMENT = "docs/languages.md"


@attrs.frozen
class Language:
    """A quickstart, and what has to happen before the CLI can run it.

    Attributes:
        example: the folder in `examples`.
        heading: the section of the document whose commands install the SDK; empty for none.
        sdk: the name of the SDK.
        documented: the name of the document's program, and the file to write it to; it is checked but not run.
        compiled: where to write the example with a name; examples are checked but not run.
        check: commands that check all programs.
    """

    example: str
    heading: str = ""
    sdk: str = ""
    documented: tuple[str, str] = ("", "")
    compiled: str = ""
    check: tuple[tuple[str, ...], ...] = ()


_GENERATED = {"fleetId", "name"}
"""The inputs that get a random suffix."""
_TSC = ("npx", "--no-install", "tsc", "--noEmit")
PYTHON = Language("quickstart")
LANGUAGES = [
    Language(
        "quickstart-go",
        "Go",
        "go",
        ("go", "documented/main.go"),
        "examples/{name}/main.go",
        (("go", "vet", "./...", "gcpx.dev/sdk/go/..."),),
    ),
    Language(
        "quickstart-java",
        "Java",
        "java",
        ("java", "src/main/java/workers/App.java"),
        "src/main/java/{name}/App.java",  # compiled with the quickstart
    ),
    Language(
        "quickstart-typescript",
        "TypeScript and JavaScript",
        "nodejs",
        ("typescript", "documented.ts"),
        "{name}.ts",
        (_TSC, ("bash", "-c", f"{' '.join(_TSC)} --strict --skipLibCheck *.ts")),
    ),
    Language("quickstart-yaml"),
]


def _planned(workspace):
    """Return what a preview plans to create: inputs by type and name, without generated names and settings."""
    steps = json.loads(workspace.run("preview", "--json").stdout)["steps"]
    states = [step["newState"] for step in steps if step["newState"]["type"].startswith("gcpx:")]
    return {state["urn"].split("::", 2)[2]: _own(state["inputs"]) for state in states}


def _own(inputs):
    return {name: value for name, value in inputs.items() if name not in _GENERATED and not name.startswith("__")}


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def prepared(cloud, tmp_path, pulumi_home, run):
    """A workspace for a program, with its SDK and its dependencies."""
    cloud.make_disk()
    cloud.make_instance()

    def make(language: Language) -> Workspace:
        made = Workspace.make(
            ROOT / "examples" / language.example, tmp_path / language.example, cloud.host, pulumi_home
        )
        if language.sdk:
            sdk.write(made.program.parent / "gcpx" / "sdk" / language.sdk, language=language.sdk)
            fence, path = language.documented
            _write(made.program / path, program(DOCUMENT, fence))
            for name in examples.names():
                compiled = language.compiled.format(name=name.replace("-", ""))
                _write(made.program / compiled, (examples.FOLDER / name / examples.FILES[fence]).read_text())
            run("bash", "-euc", commands(DOCUMENT, language.heading), folder=made.program)
        for command in language.check:
            run(*command, folder=made.program)
        return made

    return make


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.example)
def test_a_quickstart_creates_what_pythons_does_shows_no_change_and_is_destroyed(
    language, cloud, prepared, tmp_path_factory
):
    before = cloud.emulator.store.counts()
    pythons = run_wide.once_in_a_run(tmp_path_factory, "pythons", lambda: _planned(prepared(PYTHON)))
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


def test_the_documented_programs_in_python_and_yaml_plan_the_same(cloud, tmp_path, pulumi_home):
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "Pulumi.yaml").write_text("name: workers\nruntime: python\n")
    (tmp_path / "python" / "__main__.py").write_text(program(DOCUMENT, "python"))
    (tmp_path / "yaml").mkdir()
    (tmp_path / "yaml" / "Pulumi.yaml").write_text(program(DOCUMENT, "yaml"))
    python, yaml = (
        _planned(Workspace.make(tmp_path / name, tmp_path / f"{name}-stack", cloud.host, pulumi_home))
        for name in ("python", "yaml")
    )

    assert len(python) == 1
    assert python == yaml


_EMPTY = """
public class App {
    public static void main(String[] args) {
        com.pulumi.Pulumi.run(ctx -> {});
    }
}
"""


def test_package_add_writes_the_same_sdk_from_the_installed_plugin(cloud, tmp_path, pulumi_home):
    # Of the language hosts that can be built from Go modules, Java's is the one that generates an SDK.
    source = tmp_path / "source"
    (source / "src" / "main" / "java").mkdir(parents=True)
    (source / "src" / "main" / "java" / "App.java").write_text(_EMPTY)
    for name in ("Pulumi.yaml", "pom.xml"):
        shutil.copy(ROOT / "examples" / "quickstart-java" / name, source)
    workspace = Workspace.make(source, tmp_path / "stack", cloud.host, pulumi_home)
    workspace.run("package", "add", "gcpx")
    sdk.write(tmp_path / "sdk", language="java")
    added, written = (
        {path.relative_to(folder): path.read_text().splitlines()[1:] for path in folder.rglob("*.java")}
        for folder in (workspace.program / "sdks" / "gcpx", tmp_path / "sdk")
    )

    assert written
    assert added == written
