"""The emulator answers what Terraform's provider sends, verb by verb, for every resource that both have.

Terraform itself does not run here; `tests/support/servers/terraform_requests.py` has its requests.
"""

from __future__ import annotations

import httpx
import pytest
from engines.clock import HANGS
from servers.terraform_requests import COMPUTE, HEADERS, LIVES
from values.programs import FINGERPRINT

UNSET = (None, "", False, [], [None], {}, 0)
"""What Terraform sends for a value that the program does not set; a read need not show it."""
TIMES = {"lastStartTimestamp", "lastStopTimestamp", "updated"}


class Provider:
    """Sends requests as Terraform's provider does.

    Attributes:
        read: the fields that requests may refer to: those of the last answer.
    """

    def __init__(self, http):
        self._http = http
        self.read = {"fingerprint": FINGERPRINT}

    def send(self, requests):
        """Send requests, each of which must be answered as expected; wait for operations; return the answers."""
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        body = request.body(self.read) if callable(request.body) else request.body
        query = {
            name: value.format(**self.read) if isinstance(value, str) else value
            for name, value in request.query.items()
        }
        path = request.path.format(**self.read)
        answer = self._http.request(request.method, path, params=query, **_content(body))
        assert answer.status_code == request.status, (request.method, path, body, answer.text)
        found = answer.json() if answer.content and answer.is_success else {}
        assert {name: found.get(name) for name in request.shows} == request.shows
        if found.get("kind") == "compute#operation":
            self._wait(found)
        self.read = {"fingerprint": FINGERPRINT} | found
        return found

    def _wait(self, operation):
        scope = next(
            (f"{kind}s/{operation[kind].rpartition('/')[2]}" for kind in ("zone", "region") if kind in operation),
            "global",
        )
        answer = self._http.get(f"{COMPUTE}/{scope}/operations/{operation['name']}", params={"alt": "json"})
        assert (answer.status_code, answer.json()["status"], answer.json().get("error")) == (200, "DONE", None)


def _content(body):
    return {} if body is None else {"json": body}


def _not_shown(sent, shown, hidden, path=""):
    """Name the values that were sent and that a read does not show; it may complete links and add fields."""
    if path in hidden or sent in UNSET:
        return []
    if isinstance(sent, dict):
        if not isinstance(shown, dict):
            return [path]
        inner = {name: f"{path}.{name}".lstrip(".") for name in sent}
        return [
            lost for name, value in sent.items() for lost in _not_shown(value, shown.get(name), hidden, inner[name])
        ]
    if isinstance(sent, list):
        if not isinstance(shown, list) or len(sent) != len(shown):
            return [path]
        return [lost for one, other in zip(sent, shown, strict=True) for lost in _not_shown(one, other, hidden, path)]
    is_shown = str(sent) == str(shown) or str(shown).endswith(f"/{sent}")
    return [] if is_shown else [path]


def _changed(before, after):
    """Name what differs, apart from times: the clock of a test may stand still."""
    return {name for name in before | after if before.get(name) != after.get(name) and name not in TIMES}


@pytest.fixture
def http(cloud):
    """A client that sends what Terraform sends with every request."""
    with httpx.Client(
        base_url=f"http://{cloud.host}", headers=HEADERS, trust_env=False, verify=False, timeout=HANGS
    ) as client:
        yield client


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.resource)
def test_terraform_creates_reads_updates_imports_and_deletes(http, life):
    terraform = Provider(http)
    terraform.send(life.before)
    terraform.send(life.create)
    sent = [request.body for request in life.create if request.body][-1]
    first, second = terraform.send(life.read), terraform.send(life.read)

    assert first == second
    assert _not_shown(sent, life.part(first[0]), life.hidden) == []
    assert {request.method for request in life.read} == {"GET"}, "an import only reads"

    for name, update in life.updates.items():
        before = terraform.send(life.read[:1])[0]
        terraform.send(update.requests)
        after = terraform.send(life.read[:1])[0]
        assert _changed(before, after) == set(update.changes.split()) - TIMES, name

    terraform.send(life.delete)
    left = http.get(life.read[0].path.format(fingerprint=FINGERPRINT))
    assert left.status_code == life.gone
    assert not left.is_success or life.part(left.json()) is None
