"""What is not emulated beside the JSON API: batches of other APIs, changes by the XML API, and foreign signed URLs."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from values.programs import BUCKET


@pytest.mark.parametrize(("method", "path"), [
    ("POST", "/batch/bigquery/v2"), ("POST", "/storage/v1/batch"), ("POST", f"/{BUCKET}/one?uploads"),
    ("PUT", f"/{BUCKET}/one?partNumber=1&uploadId=a"), ("DELETE", f"/{BUCKET}/one"), ("PUT", f"/{BUCKET}/one"),
    ("PUT", f"/{BUCKET}/a/one?X-Goog-Signature=ab"), ("GET", f"/{BUCKET}/one?X-Goog-Signature=ab"), ("GET", f"/{BUCKET}/one?Signature=ab"),
])  # fmt: skip
def test_what_is_not_emulated_is_501(http, method, path):
    assert http.request(method, path).status_code == 501


def test_a_path_that_no_api_has_is_404(http):
    for path in ("/compute/v1/nothing", "/v1/nothing/at/all", "/storage/v1/nothing"):
        assert http.post(path, json={}).status_code == 404


@pytest.mark.parametrize(("method", "path", "status", "code"), [
    ("PUT", f"/{BUCKET}", 501, "NotImplemented"), ("PUT", f"/{BUCKET}/a%3Cb", 501, "NotImplemented"),
    ("DELETE", f"/{BUCKET}/one", 501, "NotImplemented"), ("POST", f"/{BUCKET}/one?uploads", 501, "NotImplemented"),
    ("GET", f"/{BUCKET}/missing", 404, "NoSuchKey"), ("GET", "/missing/one", 404, "NoSuchBucket"),
])  # fmt: skip
def test_errors_of_the_xml_api_are_xml(http, method, path, status, code):
    answer = http.request(method, path)
    root = ET.fromstring(answer.content)

    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/xml; charset=UTF-8")
    assert (root.tag, root.findtext("Code")) == ("Error", code)
    assert root.findtext("Message")
    assert http.get("/_emulator/requests").json()[-1]["reason"] == code
