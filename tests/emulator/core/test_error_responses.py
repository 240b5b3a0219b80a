"""Errors inside the emulator are answered in Google's format, and logged."""

from __future__ import annotations

import logging

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT

TEMPLATE = f"projects/{PROJECT}/global/instanceTemplates/web"


@pytest.fixture
def broken(cloud, http):
    """A broken template, which no handler can show."""
    cloud.emulator.store.put(TEMPLATE, {"name": "web", "kind": "compute#instanceTemplate", "properties": {}})
    assert http.patch(f"/_emulator/resources/{TEMPLATE}", json={"kind": None}).status_code == 200


def test_a_handlers_bug_is_a_500_in_googles_format_and_an_error_in_the_log(broken, http, caplog):
    answer = http.get(f"/compute/v1/{TEMPLATE}")
    error = answer.json()["error"]

    assert (answer.status_code, error["code"]) == (500, 500)
    assert [item["reason"] for item in error["errors"]] == ["backendError"]
    assert "kind" not in error["message"]
    (line,) = [record for record in caplog.records if record.name.startswith("gcpx_emulator")]
    assert line.levelno == logging.ERROR
    assert "compute.instanceTemplates.get" in line.getMessage()
    assert "get failed: KeyError" in caplog.text
    assert "KeyError: 'kind'" not in caplog.text  # the text of an exception may quote a key or a token


def test_the_request_log_has_the_status(broken, http):
    http.get(f"/compute/v1/{TEMPLATE}")

    assert http.get("/_emulator/requests").json()[-1]["status"] == 500


def test_googles_client_understands_it(broken, cloud):
    templates = connect(compute_v1.InstanceTemplatesClient, cloud)
    with pytest.raises(exceptions.InternalServerError):
        templates.get(project=PROJECT, instance_template="web")


LISTS, OBJECTS = "[" * 500 + "]" * 500, '{"name": ' * 500 + "1" + "}" * 500


@pytest.mark.parametrize(
    "body",
    ["{", "\xff", "[" * 100_000, LISTS, OBJECTS, '{"name": "\\ud800"}', '{"name": -Infinity}', '{"name": 1e999}'],
)
@pytest.mark.parametrize(("method", "path"), [
    ("POST", f"/compute/v1/projects/{PROJECT}/global/instanceTemplates"), ("POST", "/_emulator/faults"),
    ("POST", "/_emulator/outages"), ("POST", "/_emulator/tokens"), ("PATCH", "/_emulator/resources/b/demo-uploads"),
    ("POST", "/upload/storage/v1/b/demo-uploads/o?uploadType=resumable"),
])  # fmt: skip
def test_a_body_that_is_not_json_is_refused_and_logs_nothing(http, caplog, method, path, body):
    answer = http.request(method, path, content=body.encode("latin-1"))
    error = answer.json()["error"]

    assert (answer.status_code, error["errors"][0]["reason"]) == (400, "parseError")
    assert not [record for record in caplog.records if record.name.startswith("gcpx_emulator")]


@pytest.mark.parametrize(("levels", "is_too_deep"), [(100, False), (101, True)])
def test_a_body_has_at_most_100_levels(http, levels, is_too_deep):
    body = "[" * levels + "]" * levels
    answer = http.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", content=body)

    assert answer.status_code == 400
    assert (answer.json()["error"]["errors"][0]["reason"] == "parseError") == is_too_deep
