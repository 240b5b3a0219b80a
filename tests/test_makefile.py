"""What a variable of make is set to reaches a command unchanged, and neither make nor the shell interprets it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workspace import ROOT

COMMAND = f"""#!{sys.executable} -I
import json, os, sys
print(json.dumps([*sys.argv[1:], *(f"{{name}}={{value}}" for name, value in os.environ.items())]))
"""
"""A command that prints its arguments and its environment, which does not matter to its own Python."""
HOSTILE = """it's"$(shell touch by-make)$$(touch by-shell)`touch by-shell`;touch by-shell;#\\"""
USES = {
    "release-check": ("DOWNLOAD_URL", "TAG"), "dist": ("DOWNLOAD_URL",), "emulator": ("PORT",),
    "verify-google": ("PROJECT", "ZONE", "OSLOGIN_USER", "ID_TOKEN"), "soak": ("MINUTES", "PROGRAMS", "SEED"), "matrix": ("SHARD", "WORKERS"),
    "shuffle": ("SEED", "WORKERS"),
    "coverage": ("SEED", "WORKERS"), "test": ("SEED", "WORKERS"), "test-languages": ("SEED", "WORKERS"),
    "test-backends": ("SEED", "WORKERS"), "repeat": ("SEED",),
    "search": ("WORKERS",), "test-clients": ("CLIENTS",), "test-samples": ("SAMPLES",), "lock": ("LOCK",), "sdk": ("LANGUAGE",), "env": ("LANGUAGE",),
}  # fmt: skip
SEVERAL = {"CLIENTS", "LANGUAGE", "LOCK", "SAMPLES"}
"""The variables each of whose words is a word of the command."""


@pytest.fixture
def checkout(tmp_path):
    """A folder with the Makefile and a set-up, whose commands print what they are given."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("tools/constraints.txt", "pyproject.toml", "sdk/python/pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    commands = tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    for name in ("python", "coverage", "gcpx-emulator"):
        (commands / name).write_text(COMMAND)
        (commands / name).chmod(0o755)
    (tmp_path / ".venv" / ".ready").touch()
    return tmp_path


def _make(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    command = ["make", "--silent", *arguments]
    return subprocess.run(
        command, cwd=checkout, env={**variables, **environment}, capture_output=True, text=True, check=False
    )


def _words(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the arguments and the variables of all commands, and the latter's values."""
    calls = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {part for call in calls for word in call for part in (word, word.partition("=")[2])}


@pytest.mark.parametrize("target", USES)
def test_variables_reach_the_command_as_they_are(checkout, target):
    given = {name: f"{HOSTILE}{name}" for name in USES[target]}
    done = _make(checkout, target, *map("=".join, given.items()))

    assert done.returncode == 0, done.stderr
    for name, value in given.items():
        assert set(value.split() if name in SEVERAL else [value]) <= _words(done), name
    assert not [*checkout.glob("by-*")]


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("target", ["coverage", "shuffle", "repeat"])
def test_a_commit_has_one_order_of_tests(checkout, target):
    _git(checkout, "init", "--quiet")
    _git(checkout, "commit", "--quiet", "--allow-empty", "--message", "first")
    seed = int(_git(checkout, "rev-parse", "HEAD")[:8], 16)
    once, again = (_words(_make(checkout, target)) for _ in range(2))

    assert once == again
    assert str(seed) in once
    if target != "repeat":
        assert {f"--randomly-seed={seed}", f"PYTHONHASHSEED={seed}"} <= once
    _git(checkout, "commit", "--quiet", "--allow-empty", "--message", "second")
    assert str(seed) not in _words(_make(checkout, target))


def test_without_git_there_is_one_order_of_tests(checkout):
    done = _make(checkout, "shuffle", GIT_DIR=str(checkout / "missing"))

    assert {"--randomly-seed=0", "PYTHONHASHSEED=0"} <= _words(done), done.stderr


def test_a_name_of_python_that_does_not_exist_is_shown_as_it_is(checkout):
    (checkout / ".venv" / ".ready").unlink()
    done = _make(checkout, "types", f"PYTHON={HOSTILE}")

    assert f"make: {HOSTILE} is missing; install Python 3.11 or later" in done.stderr
    assert not [*checkout.glob("by-*")]


def test_the_languages_of_messages_are_no_languages_of_an_sdk(checkout):
    done = _make(checkout, "sdk", LANGUAGE="de:en")

    assert done.returncode == 0, done.stderr
    assert not {"de:en", "LANGUAGE=de:en"} & _words(done)


def test_every_variable_is_given_to_commands_in_this_way():
    text = (ROOT / "Makefile").read_text()
    (unexported,) = re.findall(r"^unexport (.*)", text, re.MULTILINE)
    recipes = "\n".join(line.partition("##")[0] for line in text.splitlines() if line.startswith("\t"))
    own = {"BIN", "COMMIT", "DISTRIBUTIONS", "FAIRLY", "LANGUAGE_WORDS", "MAKEFILE_LIST", "MOST_TESTS", "PARALLEL"}
    own |= {"QUIETLY", "RANDOM_ORDER", "STEADY"}

    assert set(re.findall(r"\$\(call quoted(?:_words)?,(\w+)", text)) == set(unexported.split())
    assert set(unexported.split()) == {"PYTHON", *(name for names in USES.values() for name in names)}
    assert set(re.findall(r"\$\((?:value )?([A-Z_]+)[):]", recipes)) <= own
