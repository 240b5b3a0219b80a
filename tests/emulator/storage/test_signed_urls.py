"""Signed URLs of Google's client, by the key of the service account that an intercepted program has."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from google.cloud import storage
from google.oauth2 import service_account
from servers import plain_http
from values.programs import BUCKET

from gcpx_emulator.testing.background import intercepting

DAY, HOUR = dt.timedelta(days=1), dt.timedelta(hours=1)


@pytest.fixture(scope="module")
def program():
    """The client of an emulator, and what signs with the key of its programs."""
    with intercepting() as emulator, plain_http.client(emulator.url) as http:
        file = Path(emulator.environment["GOOGLE_APPLICATION_CREDENTIALS"])
        credentials = service_account.Credentials.from_service_account_info(json.loads(file.read_text()))
        client = storage.Client(project="demo-project", credentials=credentials)
        http.post("/storage/v1/b?project=demo-project", json={"name": BUCKET})
        http.post(f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=notes+1.txt", content=b"text")
        yield http, lambda **options: client.bucket(BUCKET).blob("notes 1.txt").generate_signed_url(**options)


def _read(http, url, **headers):
    parts = urlsplit(url)
    return http.get(f"{parts.path}?{parts.query}", headers={"Host": parts.netloc, **headers})


@pytest.mark.parametrize("version", ["v2", "v4"])
def test_a_signed_url_is_read(program, version):
    http, sign = program

    assert _read(http, sign(version=version, expiration=DAY)).text == "text"


@pytest.mark.parametrize(("version", "name"), [("v2", "Signature"), ("v4", "X-Goog-Signature")])
@pytest.mark.parametrize("change", ["signature", "time", "object", "method"])
def test_a_changed_url_is_refused(program, version, name, change):
    http, sign = program
    url = sign(version=version, expiration=DAY, method="PUT" if change == "method" else "GET")
    parts = httpx.URL(url)
    if change == "signature":
        other = sign(version=version, expiration=2 * DAY)
        parts = parts.copy_set_param(name, httpx.URL(other).params[name])
    if change == "time":
        field = "X-Goog-Expires" if version == "v4" else "Expires"
        parts = parts.copy_set_param(field, str(int(parts.params[field]) + 1))
    if change == "object":
        parts = parts.copy_with(path=f"/{BUCKET}/other.txt")
    answer = _read(http, str(parts))

    assert (answer.status_code, "<Code>SignatureDoesNotMatch</Code>" in answer.text) == (403, True)


@pytest.mark.parametrize("version", ["v2", "v4"])
def test_an_expired_url_is_refused(program, version):
    http, sign = program
    url = sign(version=version, expiration=HOUR)
    http.post("/_emulator/clock", json={"advance": 3601})
    answer = _read(http, url)

    assert (answer.status_code, "<Code>ExpiredToken</Code>" in answer.text) == (400, True)


@pytest.mark.parametrize("version", ["v2", "v4"])
def test_signed_headers_are_verified(program, version):
    http, sign = program
    url = sign(version=version, expiration=DAY, headers={"x-goog-note": "a"})

    assert _read(http, url, **{"x-goog-note": "a"}).text == "text"
    assert _read(http, url, **{"x-goog-note": "b"}).status_code == 403


MALFORMED = {
    "X-Goog-Algorithm": "GOOG4-RSA-SHA256",
    "X-Goog-Credential": "a/b",
    "X-Goog-Date": "today",
    "X-Goog-Expires": "1",
    "X-Goog-SignedHeaders": "host",
    "X-Goog-Signature": "x",
}


@pytest.mark.parametrize("query", [
    {"X-Goog-Signature": "ab"}, {"Signature": "ab"}, MALFORMED,
    MALFORMED | {"X-Goog-Date": "20300101T000000Z", "X-Goog-Expires": "604801", "X-Goog-Signature": "ab"},
    {"Signature": "!", "GoogleAccessId": "a", "Expires": "1"},
])  # fmt: skip
def test_an_incomplete_signature_is_refused(program, query):
    assert program[0].get(f"/{BUCKET}/notes%201.txt", params=query).status_code == 400


def test_another_algorithm_and_uploads_are_not_emulated(program):
    http, sign = program
    url = httpx.URL(sign(version="v4", expiration=DAY)).copy_set_param("X-Goog-Algorithm", "GOOG4-HMAC-SHA256")

    assert _read(http, str(url)).status_code == 501
    assert http.put(f"/{BUCKET}/new?X-Goog-Signature=ab", content=b"x").status_code == 501
