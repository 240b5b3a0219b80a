"""Modules import only what the architecture allows."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from workspace import ROOT

from gcpx.provider import FUNCTIONS, RESOURCES

SOURCE = ROOT / "provider"
SERVICES = ("compute", "oauth2", "oslogin", "pubsub", "storage")
ALLOWED = {
    "gcpx.model": {"gcpx.model", "gcpx.errors"},
    "gcpx.protocol": {"gcpx.protocol", "gcpx.model", "gcpx.errors", "gcpx.threads"},
    "gcpx.gcp": {"gcpx.gcp", "gcpx.model", "gcpx.errors", "gcpx.threads", "gcpx_http"},
    **{
        f"gcpx.{service}": {f"gcpx.{service}", "gcpx.gcp", "gcpx.model", "gcpx.errors", "gcpx_filter"}
        for service in SERVICES
    },
    "gcpx.pubsub": {"gcpx.pubsub", "gcpx.gcp", "gcpx.model", "gcpx.errors", "gcpx_push"},
    "gcpx_emulator": {"gcpx_emulator", "gcpx_filter"},
    "gcpx_emulator.core": {"gcpx_emulator.core", "gcpx_filter"},
    **{f"gcpx_emulator.{service}": {f"gcpx_emulator.{service}", "gcpx_emulator.core"} for service in SERVICES},
    "gcpx_filter": {"gcpx_filter"},
    "gcpx_http": {"gcpx_http"},
    "gcpx_push": {"gcpx_push", "gcpx_http"},
}
"""Which of our packages each package may import; all may import `gcpx` itself, for the version."""
ONLY = {
    "grpc": {"gcpx.protocol"},
    "google.protobuf": {"gcpx.protocol"},
    "httpx": {"gcpx.gcp", "gcpx_http"},
    "google.auth": {"gcpx.gcp"},
    "jwt": {"gcpx_push"},
    "lark": {"gcpx_filter"},
}
"""Libraries that only some packages of the plugin may import."""
MODULES = sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


NAMES = {_name(path) for path in MODULES}


@functools.cache
def _imports(path: Path) -> set[str]:
    """Return every module that a module imports, also inside functions and for type checking."""
    return set(_imported(ast.parse(path.read_text())))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (modules & NAMES) or {node.module}


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_import_only_what_their_layer_may_see(path):
    name = _name(path)
    for layer, allowed in ALLOWED.items():
        if _within(name, layer):
            ours = {found for found in _imports(path) if found.startswith("gcpx")} - {"gcpx"}
            assert {found for found in ours if not any(_within(found, package) for package in allowed)} == set()
    for library, owners in ONLY.items():
        if not any(_within(name, owner) for owner in (*owners, "gcpx_emulator")):
            assert not any(_within(found, library) for found in _imports(path)), f"{library} belongs to {owners}"


def test_there_are_no_import_cycles():
    imports = {_name(path): _imports(path) & NAMES for path in MODULES}
    while removable := {name for name, imported in imports.items() if not imported & imports.keys()}:
        imports = {name: imported for name, imported in imports.items() if name not in removable}

    assert {name: imported & imports.keys() for name, imported in imports.items()} == {}


def test_the_modules_of_a_fleet_import_only_those_above_them_in_the_table():
    section = (ROOT / "ARCHITECTURE.md").read_text().partition("## What a fleet adds")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    order = [f"gcpx.compute.bulk_instances.{name}" for row in rows for name in re.findall(r"`(\w+)\.py`", row)]
    folder = SOURCE / "gcpx/compute/bulk_instances"

    assert sorted(order) == sorted(_name(path) for path in folder.glob("*.py") if path.stem != "__init__")
    for path in folder.glob("*.py"):
        below = order[order.index(_name(path)) :] if _name(path) in order else []
        assert not _imports(path) & set(below), path.name


@pytest.mark.parametrize(("token", "module"), [*RESOURCES.items(), *FUNCTIONS.items()])
def test_the_token_tells_where_the_code_is(token, module):
    _, service, name = token.split(":")
    folder = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    inside = [f"gcpx.{service}.{folder}", f"gcpx.{service}.list_functions"]

    assert any(_within(module, package) for package in inside)


def test_starting_loads_neither_http_nor_declarations():
    code = (
        "import sys, gcpx.__main__\n"
        "heavy = ['httpx', 'google.auth', 'gcpx.compute', 'gcpx.gcp.client', 'pulumi', 'lark', 'jwt']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


def test_the_push_library_loads_nothing_of_pulumi():
    code = (
        "import sys, gcpx_push\n"
        "foreign = ['grpc', 'google.protobuf', 'pulumi', 'gcpx.model', 'gcpx.protocol', 'gcpx.gcp', 'starlette']\n"
        "print([name for name in foreign if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"
