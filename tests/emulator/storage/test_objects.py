"""Objects."""

from __future__ import annotations

import io

import pytest
from google.api_core import exceptions
from google_clients import storage_client
from programs import BUCKET


def test_objects_are_uploaded_in_every_way_read_listed_and_deleted(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.blob("a/one.txt").upload_from_string("eins", content_type="text/plain")
    large = io.BytesIO(bytes(range(256)) * 4096)
    bucket.blob("a/two.bin", chunk_size=512 * 1024).upload_from_file(large)
    bucket.blob("three").upload_from_string("drei", if_generation_match=0)

    assert bucket.blob("a/one.txt").download_as_text() == "eins"
    assert bucket.blob("a/two.bin").download_as_bytes() == large.getvalue()
    assert [blob.name for blob in bucket.list_blobs(prefix="a/")] == ["a/one.txt", "a/two.bin"]
    listed = bucket.list_blobs(delimiter="/")
    assert ([blob.name for blob in listed], listed.prefixes) == (["three"], {"a/"})
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("three").upload_from_string("neu", if_generation_match=0)
    bucket.blob("three").delete()
    with pytest.raises(exceptions.NotFound):
        bucket.blob("three").download_as_bytes()
    with pytest.raises(exceptions.Conflict, match="not empty"):
        bucket.delete()


def _error(response):
    return response.json()["error"]


@pytest.mark.parametrize("kind", ["text/plain\nX-Other: 1", "t\u20acxt/plain"])
def test_a_content_type_that_no_header_can_hold_is_refused(http, kind):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    answer = http.patch(f"{path}/one", json={"contentType": kind})

    assert answer.status_code == 400
    assert "contentType" in _error(answer)["message"]
    assert http.get(f"{path}/one?alt=media").text == "eins"


def test_a_patch_merges_the_metadata_of_an_object(http):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    http.patch(f"{path}/one", json={"metadata": {"a": "1", "b": "2"}, "cacheControl": "no-store"})
    merged = http.patch(f"{path}/one", json={"metadata": {"b": None, "c": "3"}}).json()
    removed = http.patch(f"{path}/one", json={"metadata": None, "cacheControl": None}).json()

    assert (merged["metadata"], merged["cacheControl"]) == ({"a": "1", "c": "3"}, "no-store")
    assert not {"metadata", "cacheControl"} & removed.keys()
    assert removed == http.get(f"{path}/one").json()


def test_an_update_replaces_the_metadata_of_an_object(http):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    http.patch(f"{path}/one", json={"metadata": {"a": "1"}})

    assert http.put(f"{path}/one", json={"metadata": {"b": "2"}}).json()["metadata"] == {"b": "2"}
