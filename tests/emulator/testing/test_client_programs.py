"""Programs with Google's clients do on the emulator at least what docs/emulator-clients.md says."""

from __future__ import annotations

import pytest
from generate.run_record import read_runs
from records.client_runs import CLIENTS, named, reason, run


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.is_here], ids=lambda client: client.package)
def test_every_step_that_the_page_counts_passes(client):
    said, found = read_runs()[client.package].steps, run(client).steps

    assert said.keys() == found.keys(), "run `make test-clients`"
    assert {step: error for step, error in found.items() if error is not None and said[step] is None} == {}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, None),
        (
            "MethodNotImplemented: 501 POST https://x: compute.a.insert is not emulated",
            "501: compute.a.insert is not emulated",
        ),
        (
            "501 storage.objects.insert with a signed URL is not emulated.",
            "501: storage.objects.insert with a signed URL is not emulated",
        ),
        ("501 POST /a/b is not emulated", "501: POST /a/b is not emulated"),
        ("<X at 0x7f2a> fails", "<X> fails"),
        ("NotFound:\n  nothing", "NotFound: nothing"),
        ("x" * 161, f"{'x' * 160} ..."),
    ],
)
def test_the_reason_of_a_failure_is_short(error, expected):
    assert reason(error) == expected


def test_clients_are_run_by_name_and_large_ones_only_so():
    assert [client.package for client in named(["skypilot", "ansible"])] == ["ansible", "skypilot"]
    assert [client.package for client in CLIENTS if client not in named([])] == ["ray", "skypilot"]
    with pytest.raises(SystemExit, match=r"CLIENTS=\.\.\. has nothing, but the clients are google-cloud-compute, "):
        named(["nothing"])
