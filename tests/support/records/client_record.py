"""Whose requests the emulator has answered: gcpx's, Terraform's, and those of Google's libraries.

`make emulator-record` writes them into the record that the page of the emulator's methods is made from.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from generate.emulator_record import read_clients, write_clients
from generate.verb_permissions import table
from records.verb_runs import run
from records.verb_scenarios import RUNS
from servers.emulated import Emulated, running
from servers.terraform_requests import LIVES

import gcpx_emulator.services  # noqa: F401 - registers what the emulator serves
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.discovery import route

GCPX: Final = "gcpx"
GOOGLE: Final = "google-cloud-*"
TERRAFORM: Final = "Terraform"
API_CLIENT: Final = "google-api-python-client"
_LIBRARIES: Final = {
    API_CLIENT: re.compile(r"\(gzip\)"),
    GOOGLE: re.compile(r".*(gcloud-python|google-cloud|gl-python|python-requests).*"),
}
"""Google's libraries for Python, with the user agents that they send in tests."""


def seen_libraries(requests: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Name the methods that Google's libraries called, each with the library, from a log of requests."""
    return {
        (str(request["method"]), library)
        for request in requests
        for library, agent in _LIBRARIES.items()
        if request["method"] in HANDLERS and agent.fullmatch(request["headers"].get("user-agent", ""))
    }


def of_gcpx(cloud: Emulated) -> set[str]:
    """Name the methods that gcpx calls: as observed for the page of permissions, which leaves out those without any."""
    with_permissions = {method for row in table() for method in row.methods.split()}
    others = {row.token for row in table() if not row.permission}
    called = {method for item in RUNS if item.token in others for method in run(cloud, item).methods}
    return (with_permissions | called) & HANDLERS.keys()


def of_terraform() -> set[str]:
    """Name the methods that the requests of Terraform call."""
    requests = [
        request
        for life in LIVES
        for request in (
            *life.create,
            *life.read,
            *life.delete,
            *(one for update in life.updates.values() for one in update.requests),
        )
    ]
    called = {route(request.method, request.path)[0].id for request in requests}
    return (called | {f"compute.{scope}Operations.get" for scope in ("global", "region", "zone")}) & HANDLERS.keys()


def recorded() -> set[tuple[str, str]]:
    """Give each method with each client that is recorded to call it."""
    return {(method, client) for method, clients in read_clients().items() for client in clients}


def main(found: Path) -> None:
    """Write the record, with what Google's libraries were found to call: a method and a library in each line."""
    lines = [line.split() for line in found.read_text().splitlines()]
    libraries = {library: {method for method, caller in lines if caller == library} for library in _LIBRARIES}
    with running() as cloud:
        called = {GCPX: of_gcpx(cloud), TERRAFORM: of_terraform(), **libraries}
    methods = set().union(*called.values())
    write_clients({method: {client for client, own in called.items() if method in own} for method in methods})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
