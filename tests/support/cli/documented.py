"""The programs and the commands that a document shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from workspace import ROOT, Workspace


def program(document: str, language: str) -> str:
    """Return the first code block of a language in a document below the root."""
    found, *_ = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    return str(found)


def section(document: str, heading: str) -> str:
    """Return the text below a heading of a document, up to the next heading of the same or a higher level."""
    text = (ROOT / document).read_text()
    found = re.search(rf"^(##+) {re.escape(heading)}\n", text, re.MULTILINE)
    assert found, f"{document} has no heading {heading}"
    return re.split(rf"^#{{2,{len(found[1])}}} ", text[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def commands(document: str, heading: str) -> str:
    """Return the first block of shell commands below a heading of a document."""
    found = re.search(r"^```sh\n(.*?)^```$", section(document, heading), re.DOTALL | re.MULTILINE)
    assert found, f"{document}: {heading} has no commands"
    return found[1]


def run_commands(workspace: Workspace, script: str) -> str:
    """Run shell commands in the folder of a program, and answer every question with yes. Return what they print."""
    python = f'python() {{ "{sys.executable}" "$@"; }}\n'
    variables = {**os.environ, **workspace.variables, "PULUMI_SKIP_CONFIRMATIONS": "true"}
    command = ["bash", "-ec", python + script]
    done = subprocess.run(command, cwd=workspace.program, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def messages(document: str, heading: str) -> list[str]:
    """Return the blocks without a language below a heading of a document, which quote messages."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", section(document, heading), re.DOTALL | re.MULTILINE)
    return [text for language, text in blocks if not language]
