"""docs/emulator.md describes all control requests, with all keys of their bodies, and its requests are accepted."""

from __future__ import annotations

import re

import pytest
from workspace import ROOT

from gcpx_emulator.controls import Controls
from gcpx_emulator.emulator import Emulator

TEXT = (ROOT / "docs" / "emulator.md").read_text()
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL))
REQUESTS = re.findall(r"^```http\n([A-Z]+) (\S+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
*ROUTES, _ELSE = Controls(Emulator()).routes()


def _name(route):
    return route.path.removeprefix("/_emulator/").replace("{path:path}", "PATH")


def test_every_control_request_has_a_section():
    assert set(SECTIONS) == {_name(route) for route in ROUTES}


@pytest.mark.parametrize("name", [_name(route) for route in ROUTES if "POST" in route.methods])
def test_a_section_names_every_key_of_the_body(http, name):
    refused = http.post(f"/_emulator/{name}", json={"unknownKey": 1}).json()["error"]["message"]
    listed = re.search(r"It may have (.*)\.$", refused)
    keys = listed[1].split(", ") if listed else re.findall(r'"(\w+)": ', refused)

    assert [key for key in keys if f"`{key}`" not in SECTIONS[name]] == []


def _start_instances(http):
    """Start what a request of the page has interrupted, because the next request interrupts running instances."""
    for path, instance in http.get("/_emulator/resources?kind=instances").json().items():
        if instance["status"] == "TERMINATED":
            http.post(f"/compute/v1/{path}/start").raise_for_status()


def test_all_requests_of_the_page_are_accepted_in_their_order(http):
    http.post("/_emulator/reset")
    for method, path, body in REQUESTS:
        answer = http.request(method, path, content=body)

        assert answer.status_code == 200, f"{method} {path}: {answer.text}"
        _start_instances(http)
    assert {path.partition("?")[0].removeprefix("/_emulator/").split("/projects")[0] for _, path, _ in REQUESTS} >= set(
        SECTIONS
    ) - {"resources/PATH"}
