"""A request that creates was carried out without an answer, and what comes after that fails: nothing is forgotten.

Nothing is made twice either, if the request must not be sent again.
"""

from __future__ import annotations

import json

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engines import driver
from engines.clocked import ClockedProvider
from samples import SAMPLES
from servers.direct_connection import DirectConnection
from servers.token_server import ROBOT, token_server
from values.programs import KEY, PROJECT, key

from gcpx.errors import CancelledError, UserError
from gcpx.gcp.credentials import Credentials

LIMIT = 60
PAGE = b"<html><title>Sorry</title></html>"


def _answer(status, body):
    return httpx.Response(status, stream=httpx.ByteStream(body))


def _refusal(status):
    return _answer(status, json.dumps({"error": {"code": status, "message": "no"}}).encode())


class _Losing(DirectConnection):
    """Carries out the first request that creates something, and answers it with a page.

    Attributes:
        status: the status of the page.
        later: the status with which it refuses those that follow; None to carry them out.
        reads_later: the status with which it answers reads that follow a refusal; None to carry them out.
        created: the paths of what was carried out.
        is_refused: whether it has refused anything.
    """

    def __init__(self, status, later=None, reads_later=None):
        super().__init__()
        self.status, self.later, self.reads_later = status, later, reads_later
        self.created, self.is_refused = [], False

    def handle_request(self, request):
        path, creates = request.url.path, request.method in {"POST", "PUT"}
        if not creates or path.endswith(("/wait", "/token")):
            is_failing = self.is_refused and self.reads_later is not None
            return _refusal(self.reads_later) if is_failing else super().handle_request(request)
        if self.created and self.later is not None:
            self.is_refused = True
            return _refusal(self.later)
        response = super().handle_request(request)
        self.created += [path] if response.is_success else []
        return _answer(self.status, PAGE) if len(self.created) == 1 else response


def _connected(cloud, connection, **credentials):
    base = f"http://{cloud.host}"
    apis = ("compute", "osLogin", "pubsub", "storage")
    endpoints = {f"{api}CustomEndpoint": base for api in apis}
    return driver.engine(ClockedProvider(connection=connection), project=PROJECT, **endpoints, **credentials)


def _create(engine, token, inputs):
    """Create something; return the ID that the state has, also after an error, and the message."""
    kept, message = engine.create_as_kept(token, "kept", inputs, timeout=LIMIT)
    return kept.id if kept else "", message


def _robot(tokens):
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(*form).decode()
    robot = {"type": "service_account", "client_email": ROBOT, "private_key": pem, "private_key_id": "1"}
    return json.dumps({**robot, "token_uri": f"{tokens.url}/token"})


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_page_that_asks_for_a_password_makes_nothing_twice(cloud, vm, sample):
    with token_server() as tokens, _connected(cloud, _Losing(401), credentials=_robot(tokens)) as engine:
        before = _all(engine, sample)
        made, _ = _create(engine, sample.token, sample.inputs)

        assert made
        assert len(_all(engine, sample)) == len(before) + 1


def _all(engine, sample):
    return engine.list(sample.token, sample.query)[0]


ERRORS = [UserError("no token"), CancelledError.before("POST x"), OverflowError("odd")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_goes_wrong_before_another_attempt_is_no_reason_to_forget(cloud, vm, sample, error, monkeypatch):
    connection, header = _Losing(503), Credentials.header

    def header_once(self, scope, *, renew=False):
        if connection.created:
            raise error
        return header(self, scope, renew=renew)

    monkeypatch.setattr(Credentials, "header", header_once)
    with _connected(cloud, connection, accessToken="t") as engine:
        made, message = _create(engine, sample.token, sample.inputs)

    assert made, f"forgotten: {message}"
    assert "Google may have carried the request out" in message


@pytest.mark.parametrize("status", [400, 404, 412])
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_that_a_repetition_is_refused_is_no_reason_to_forget(cloud, vm, sample, status):
    with _connected(cloud, _Losing(503, later=status), accessToken="t") as engine:
        made, message = _create(engine, sample.token, sample.inputs)

    assert made, f"forgotten: {message}"


@pytest.mark.parametrize("status", [403, 400, 500])
def test_a_key_that_exists_and_cannot_be_read_is_not_forgotten(cloud, status):
    with _connected(cloud, _Losing(503, later=409, reads_later=status), accessToken="t") as engine:
        made, message = _create(engine, KEY, key())

    assert made, f"forgotten: {message}"
