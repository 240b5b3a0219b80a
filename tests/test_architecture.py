"""The rules that keep the parts apart."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from workspace import ROOT

SOURCE = ROOT / "provider"
ALLOWED = {
    "gcpx.model": {"gcpx.model", "gcpx.errors"},
    "gcpx.google": {"gcpx.google", "gcpx.errors", "gcpx"},
    "gcpx.resources": {"gcpx.resources", "gcpx.model", "gcpx.google", "gcpx.errors", "gcpx_filter"},
    "gcpx.functions": {"gcpx.functions", "gcpx.resources", "gcpx.model", "gcpx.google", "gcpx.errors", "gcpx_push"},
    "gcpx.engine": {"gcpx.engine", "gcpx.model", "gcpx.errors"},
    "gcpx.push": {"gcpx_push"},
    "gcpx_emulator": {"gcpx_emulator", "gcpx_filter"},
    "gcpx_filter": {"gcpx_filter"},
    "gcpx_push": {"gcpx_push"},
}
"""Which of our packages the modules of a package may import."""
ONLY = {
    "grpc": {"gcpx.engine"},
    "google.protobuf": {"gcpx.engine"},
    "httpx": {"gcpx.google", "gcpx_push"},
    "google.auth": {"gcpx.google"},
    "jwt": {"gcpx_push"},
    "lark": {"gcpx_filter"},
}
"""Libraries that some packages alone may import."""
MODULES = sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_import_only_what_their_layer_may_see(path):
    name = _name(path)
    for layer, allowed in ALLOWED.items():
        if _within(name, layer):
            ours = {found for found in _imports(path) if found.startswith("gcpx")}
            allowed_here = {found for found in ours if any(_within(found, package) for package in allowed - {"gcpx"})}
            assert ours - allowed_here - ({"gcpx"} & allowed) == set()
    for library, owners in ONLY.items():
        if not any(_within(name, owner) for owner in (*owners, "gcpx_emulator")):
            assert not any(_within(found, library) for found in _imports(path)), f"{library} belongs to {owners}"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_files_stay_small_but_for_lists_of_fields(path):
    lines = len(path.read_text().splitlines())

    assert lines <= 360 or path.name == "instance_properties.py", f"{lines} lines"


def test_starting_loads_neither_http_nor_models():
    code = (
        "import sys, gcpx.__main__\n"
        "heavy = ['httpx', 'google.auth', 'gcpx.resources.instance_template', 'pulumi', 'lark', 'jwt']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["gcpx_push", "gcpx.push"])
def test_the_push_library_loads_nothing_of_pulumi(name):
    code = (
        f"import sys, {name}\n"
        "foreign = ['grpc', 'google.protobuf', 'pulumi', 'gcpx.model', 'gcpx.engine', 'gcpx.google', 'starlette']\n"
        "print([name for name in foreign if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"
