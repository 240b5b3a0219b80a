"""A request that creates was carried out, and its response cannot be read: the resource stays in the state, unfinished.

Whatever went wrong after the request was sent, nothing is forgotten, and the next run goes on with what exists.

Holds reliability.md: "Once the request for a creation has been sent"; "There is one exception".
"""

from __future__ import annotations

import json
from contextlib import contextmanager

import httpx
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing
from samples import SAMPLES
from servers.direct_connection import DirectConnection
from values.programs import PROJECT

from gcpx.errors import MalformedResponse
from gcpx.gcp.client import GoogleClient

LIMIT = 60
DEEP = b'{"a":' * 25 + b"1" + b"}" * 25
QUOTA = [{"quotaInfo": {"metricName": "m", "limit": 10**400}}]


def _answer(status, body, **headers):
    """Return what a server answers; the text of a body is not decoded."""
    return httpx.Response(
        status, headers={name.replace("_", "-"): text for name, text in headers.items()}, stream=httpx.ByteStream(body)
    )


def _googles(status, **error):
    return json.dumps({"error": {"code": status, "message": "sorry", **error}}).encode()


ANSWERS = {
    "an encoding that nobody asked for": lambda body: _answer(200, body, Content_Encoding="br"),
    "gzip that is cut": lambda _: _answer(200, b"\x1f\x8b\x08", Content_Encoding="gzip"),
    "JSON that is too deep": lambda _: _answer(200, DEEP),
    "no text": lambda _: _answer(200, b"\xff\xfe\x00{"),
    "half a pair": lambda _: _answer(200, rb'{"name": "\ud800", "id": "\ud800", "kind": "\udc00"}'),
    "half a pair in UTF-8": lambda _: _answer(200, b'{"name": "\xed\xa0\x80", "id": "\xed\xa0\x80"}'),
    "no object": lambda _: _answer(200, b"7"),
    "a date beyond the calendar": lambda _: _answer(
        503, _googles(503), Retry_After="Fri, 31 Dec 99999999999 00:00:00 GMT"
    ),
    "a limit of 400 digits": lambda _: _answer(503, _googles(503, details=QUOTA)),
    "a redirect": lambda _: _answer(307, b"", Location="https://elsewhere.example/"),
    "a page that refuses": lambda _: _answer(400, b"<html><title>No</title></html>"),
    "a page that asks for a password": lambda _: _answer(401, b"<html><title>Log in</title></html>"),
    "a page that asks for patience": lambda _: _answer(429, b"<html><title>Later</title></html>"),
    "a refusal in another format": lambda _: _answer(422, b'{"errors": ["no"]}'),
}


def _raising(error):
    def answer(_):
        raise error

    return answer


EXCEPTIONS = [
    OverflowError("date value out of range"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    ValueError("Exceeds the limit (4300 digits) for integer string conversion"),
    KeyError("id"),
    OSError(5, "Input/output error"),
    httpx.ReadError("the connection was reset"),
    httpx.DecodingError("not gzip"),
]
ANSWERS |= {f"{type(error).__name__} after the request": _raising(error) for error in EXCEPTIONS}


class _AnsweringOddly(DirectConnection):
    """Carries every request to the emulator, and gives another answer to those that create something.

    Attributes:
        odd: makes the other answer of the emulator's; None for the emulator's own.
    """

    def __init__(self, odd):
        super().__init__()
        self.odd = odd

    def handle_request(self, request):
        is_creation = request.method == "POST" and not request.url.path.endswith("/wait")
        if self.odd is None or not is_creation:
            return super().handle_request(request)
        response = super().handle_request(request)
        return self.odd(response.read()) if response.is_success else response


@contextmanager
def _connected(cloud, odd):
    connection = _AnsweringOddly(odd)
    with driver.engine(ClockedProvider(connection=connection), project=PROJECT, emulatorHost=cloud.host) as engine:
        yield engine, connection


def _create(engine, sample):
    """Create the sample; return the state that the engine keeps, as it is kept after an error, too."""
    kept, message = engine.create_as_kept(sample.token, "kept", sample.inputs, timeout=LIMIT)
    assert kept is not None, f"forgotten: {message}"
    return kept, message


def _assert_finished_by_the_next_run(engine, cloud, sample, kept):
    made = _made(cloud)
    again = engine.update(kept, sample.inputs)

    assert _made(cloud) == made, "made again"
    assert engine.diff(again, sample.inputs).changes == driver.rpc.DiffResponse.DIFF_NONE
    engine.delete(again)
    assert engine.is_gone(again)


def _made(cloud):
    return len([call for call in cloud.calls() if call.endswith((".insert", ".bulkInsert", ".attachDisk"))])


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_an_answer_hides_is_kept_and_finished_by_the_next_run(cloud, vm, sample, answer):
    with _connected(cloud, answer) as (engine, connection):
        kept, message = _create(engine, sample)
        connection.odd = None

        assert "Traceback" not in message
        assert "please report" not in message
        _assert_finished_by_the_next_run(engine, cloud, sample, kept)


@pytest.mark.parametrize("error", [OverflowError("no"), MalformedResponse("strange")], ids=type)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_nobody_expected_after_an_answer_is_no_reason_to_forget(cloud, vm, sample, error, monkeypatch):
    send, raised = GoogleClient.send, []

    def send_and_fail(self, request, context):
        response = send(self, request, context)
        if not request.only_reads and not raised:
            raised.append(request)
            raise error
        return response

    with _connected(cloud, None) as (engine, _):
        monkeypatch.setattr(GoogleClient, "send", send_and_fail)
        kept, message = _create(engine, sample)

        assert "it may have been created" in message
        _assert_finished_by_the_next_run(engine, cloud, sample, kept)


REFUSALS = {"plain": (400, {}), "permission": (403, {}), "quota": (403, {"errors": [{"reason": "quotaExceeded"}]})}


@pytest.mark.parametrize(("status", "error"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_google_refuses_is_in_no_state(clocked_engine, cloud, vm, sample, status, error):
    calls = len(cloud.calls())
    clocked_engine.delete(clocked_engine.create(sample.token, "first", sample.inputs))
    creation = next(call for call in cloud.calls()[calls:] if not call.endswith((".get", "ist")))
    cloud.fail(creation, times=1000, body=_googles(status, **error).decode(), status=status)
    with failing() as failed:
        clocked_engine.create(sample.token, "kept", sample.inputs)

    assert failed[0].partial is None
