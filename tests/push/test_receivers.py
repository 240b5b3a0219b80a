"""The receivers in the guide of push receivers accept pushes and refuse everything else."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import re
import sys

import httpx
import pytest
from engines.clock import HANGS
from servers import plain_http
from workspace import ROOT

from gcpx_push import Certificates, PushMessage

AUDIENCE, ACCOUNT = "receiver", "pusher@my-project.iam.gserviceaccount.com"
BODY = {"message": {"messageId": "7", "data": base64.b64encode(b"hello").decode()}}
LARGE = {"message": {"messageId": "8", "data": base64.b64encode(bytes(10_000_000)).decode()}}
"""A message of the greatest size that Pub/Sub accepts, 10 MB."""
GUIDE = (ROOT / "docs" / "push-receivers.md").read_text()


async def request_of(app, method, path, **more):
    """Send a request to an ASGI application as FastAPI's documentation does in asynchronous tests."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://receiver") as client:
        return await client.request(method, path, **more)


def fastapi(module):
    return lambda body, headers: asyncio.run(request_of(module.app, "POST", "/hooks/push", json=body, headers=headers))


def flask(module):
    client = module.app.test_client()
    return lambda body, headers: client.post("/push", json=body, headers=headers)


def django(module):
    from django.test import Client  # noqa: PLC0415 - Django has to be set up before, which the receiver does

    del module
    client = Client()
    return lambda body, headers: client.post("/push", body, content_type="application/json", headers=headers)


@pytest.fixture(params=[fastapi, flask, django], ids=lambda framework: framework.__name__)
def post(request, cloud, tmp_path, monkeypatch):
    """A function that posts a body and headers to a receiver, whose code is taken from the guide."""
    name = f"receiver_{request.param.__name__}"
    (code,) = re.findall(rf"```python\n(# {name}\.py\n.*?)```", GUIDE, re.DOTALL)
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setenv("PUSH_AUDIENCE", AUDIENCE)
    monkeypatch.setenv("PUSH_SERVICE_ACCOUNT", ACCOUNT)
    if name not in sys.modules:  # Django can be set up only once in a process
        spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    module = sys.modules[name]
    module.verifier.certificates = Certificates(f"http://{cloud.host}/oauth2/v1/certs", timeout=HANGS)
    return request.param(module)


@pytest.fixture
def bearer(cloud):
    """A function that signs a token and returns the headers of a push."""

    def sign(audience=AUDIENCE, email=ACCOUNT):
        order = {"audience": audience, "email": email}
        answer = plain_http.post(f"http://{cloud.host}/_emulator/tokens", json=order)
        return {"Authorization": f"Bearer {answer.json()['token']}"}

    return sign


def test_a_receiver_handles_pushes_of_its_subscription_only(post, bearer, capsys, caplog):
    accepted = [post(body, bearer()).status_code for body in (BODY, LARGE)]
    printed = capsys.readouterr().out
    unsigned = {"Authorization": bearer()["Authorization"].rpartition(".")[0] + ".SIGNATURE_REMOVED_BY_GOOGLE"}
    strangers = ({}, bearer(audience="another"), bearer(email="x@example.com"), unsigned)
    refused = [post(BODY, headers).status_code for headers in strangers]

    assert accepted == [204, 204]
    assert printed.startswith("7 b'hello'\n8 ")
    assert refused == [400] * 4
    (reason,) = re.findall(r"and logs\n`(.*)`", GUIDE)
    logged = [record.getMessage() for record in caplog.records if record.name == "gcpx_push"]
    assert logged[-1].endswith(f": {reason}"), "what the guide says about a signature that Cloud Run removed"
    assert capsys.readouterr().out == ""


def test_a_receiver_refuses_a_body_that_is_no_push(post, bearer):
    assert post({"message": "hello"}, bearer()).status_code == 400


@pytest.mark.parametrize("post", [fastapi], indirect=True)
def test_the_health_of_the_fastapi_receiver_needs_no_token(post):
    assert asyncio.run(request_of(sys.modules["receiver_fastapi"].app, "GET", "/health")).json() == "ok"


@pytest.mark.parametrize("data", [b"\xff\xfe", "é\u202e\n10 forged".encode()], ids=["no UTF-8", "no ASCII"])
def test_any_payload_is_one_line_that_every_log_can_have(post, bearer, capsys, data):
    body = {"message": {"messageId": "9", "data": base64.b64encode(data).decode()}}

    assert post(body, bearer()).status_code == 204
    printed = capsys.readouterr().out
    assert printed == f"9 {data!r}\n"
    assert printed.isascii()


def test_the_name_of_an_object_is_one_line_that_every_log_can_have(capsys):
    spec = importlib.util.spec_from_file_location("bucket_events", ROOT / "examples" / "bucket-events" / "receiver.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    attributes = {"eventType": "OBJECT_FINALIZE", "bucketId": "uploads", "objectId": "é\nOBJECT_DELETE forged"}
    module.show(PushMessage(b"", attributes))

    assert capsys.readouterr().out == "OBJECT_FINALIZE 'uploads/\\xe9\\nOBJECT_DELETE forged'\n"
