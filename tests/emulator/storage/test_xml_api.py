"""What is not emulated beside the JSON API: batches of other APIs, signed URLs, and changes by the XML API."""

from __future__ import annotations

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
