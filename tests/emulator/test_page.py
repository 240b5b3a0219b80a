"""The status page."""

from __future__ import annotations

from values.programs import PROJECT

BASE = f"/compute/v1/projects/{PROJECT}"


def test_the_page_shows_resources_requests_and_methods(http):
    http.get(f"{BASE}/regions/<script>")
    page = http.get("/")

    assert page.headers["content-type"].startswith("text/html")
    for words in ("<b>1</b>buckets", "compute.instanceTemplates", "compute.regions.get"):
        assert words in page.text
    assert "<script>" not in page.text
