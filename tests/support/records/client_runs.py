"""What programs with clients of Google's APIs do on the emulator; `make test-clients` writes it into the record."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

import attrs
from engines.clock import HANGS
from generate import run_record
from generate.run_record import Run
from workspace import PROJECT, ROOT

PROGRAMS: Final = ROOT / "tests" / "support" / "client_programs"
INSTALLED: Final = ROOT / "build" / "clients"
"""Where clients are installed that the environment of the project does not have."""
_VARIABLES: Final = {
    "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
    "ANSIBLE_LOCALHOST_WARNING": "False",
    "GCP_AUTH_KIND": "application",
    "GCP_PROJECT": PROJECT,
}
"""What tells Ansible how to print, and which credentials to use; it has no default."""
_OWN_PYTHON: Final = "ansible_python_interpreter={{ansible_playbook_python}}"
_MOST: Final = 160
"""How many characters of an error the record has."""


@attrs.frozen
class Client:
    """A client and a program that uses it.

    Attributes:
        package: in the environment of the project, or the one that has to be installed.
        program: the file in `PROGRAMS`.
        more: packages that the program needs besides.
        is_here: whether the environment of the project has it.
        is_large: whether its installation takes so much time and space that it is run only if it is named.
    """

    package: str
    program: str
    more: tuple[str, ...] = ()
    is_here: bool = False
    is_large: bool = False


CLIENTS: Final = (
    Client("google-cloud-compute", "with_compute.py", is_here=True),
    Client("google-cloud-storage", "with_storage.py", is_here=True),
    Client("google-cloud-pubsub", "with_pubsub.py", is_here=True),
    Client("google-cloud-os-login", "with_os_login.py", is_here=True),
    Client("google-api-python-client", "with_api_client.py", is_here=True),
    Client("apache-libcloud", "with_libcloud.py", ("cryptography",)),
    Client("ansible", "with_ansible.yml", ("google-cloud-storage", "requests")),
    Client("@google-cloud/compute", "with_compute.js"),
    Client("@google-cloud/storage", "with_storage.js"),
    Client("gcloud", "with_gcloud.sh"),
    Client("ray", "with_ray.py", ("google-api-python-client", "google-auth", "cryptography"), is_large=True),
    Client(
        "skypilot",
        "with_skypilot.py",
        ("google-api-python-client", "google-auth", "google-cloud-storage"),
        is_large=True,
    ),
)


def run(client: Client) -> Run:
    """Run the program of a client, which is installed, on an emulator of its own."""
    command, version = _command(client)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "gcpx_emulator", "run", "--", *command, str(PROGRAMS / client.program)],
            cwd=folder,
            env={**os.environ, **_VARIABLES, "NODE_PATH": str(INSTALLED / client.program / "node_modules")},
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS * 5,
        )
    steps = _of_ansible(done.stdout) if client.program.endswith(".yml") else _of_lines(done.stdout)
    if not steps:
        raise RuntimeError(f"{client.package}: the program has no steps: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return Run(version, " ".join([Path(command[0]).name, *command[1:], client.program]), steps)


def _of_lines(printed: str) -> dict[str, str | None]:
    found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {step["step"]: reason(step["error"]) for step in found}


def _of_ansible(printed: str) -> dict[str, str | None]:
    (play,) = json.loads(printed[printed.index("{") :])["plays"]
    results = {task["task"]["name"]: task["hosts"]["localhost"] for task in play["tasks"]}
    return {name: reason(str(result["msg"])) if result.get("failed") else None for name, result in results.items()}


def reason(error: str | None) -> str | None:
    """Shorten the error of a client: what is not emulated is named by the emulator."""
    if error is None:
        return None
    refused = re.search(r"(?:[A-Z]{3,6} )?[\w./%-]+( with [\w -]+)? is not emulated", error)
    line = re.sub(r" at 0x[0-9a-f]+", "", " ".join(error.split()))
    return f"501: {refused[0]}" if refused else line if len(line) <= _MOST else f"{line[:_MOST]} ..."


def _command(client: Client) -> tuple[list[str], str]:
    """Return the command that runs programs of a client, and the client's version."""
    if client.is_here:
        return [sys.executable], _version(sys.executable, client.package)
    folder = INSTALLED / client.program
    if client.program.endswith(".js"):
        described = json.loads((folder / "node_modules" / client.package / "package.json").read_text())
        return ["node"], str(described["version"])
    if client.program.endswith(".sh"):
        said = subprocess.run(["gcloud", "version"], check=True, capture_output=True, text=True).stdout
        return ["bash"], said.splitlines()[0].rpartition(" ")[2]
    python = str(folder / "bin" / "python")
    version = _version(python, client.package)
    if client.program.endswith(".yml"):
        return [str(folder / "bin" / "ansible-playbook"), "-i", "localhost,", "-c", "local", "-e", _OWN_PYTHON], version
    return [python], version


def _version(python: str, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def install(client: Client) -> bool:
    """Install a client, if it is missing; return whether it is there."""
    folder = INSTALLED / client.program
    if client.is_here or folder.exists():
        return True
    if client.program.endswith(".sh"):
        return shutil.which("gcloud") is not None
    if client.program.endswith(".js"):
        command = ["npm", "install", "--silent", "--prefix", str(folder), client.package, *client.more]
        return shutil.which("npm") is not None and subprocess.run(command, check=False).returncode == 0
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", client.package, *client.more]
    return subprocess.run(command, check=False).returncode == 0


def named(names: Collection[str]) -> list[Client]:
    """Return the clients with these names; without names, all clients but the large ones."""
    known = [client.package for client in CLIENTS]
    if unknown := sorted(set(names).difference(known)):
        sys.exit(f"CLIENTS=... has {', '.join(unknown)}, but the clients are {', '.join(known)}")
    return [client for client in CLIENTS if (client.package in names if names else not client.is_large)]


def main(names: Collection[str]) -> None:
    """Run the named clients, write the record, and fail if a step fails that did not fail before.

    A client that cannot be installed keeps its record.
    """
    chosen = named(names)
    before = run_record.read_runs()
    after = {client.package: run(client) for client in chosen if install(client)}
    runs = {**before, **after}
    run_record.write_runs({client.package: runs[client.package] for client in CLIENTS if client.package in runs})
    worse = [
        f"{package}: {step}: {error}"
        for package, found in after.items()
        for step, error in found.steps.items()
        if error is not None and package in before and before[package].steps.get(step, error) is None
    ]
    for client in chosen:
        found = after.get(client.package)
        sys.stdout.write(f"{client.package}: {found.figures if found else 'not installed'}\n")
    sys.exit("\n".join(worse) or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
