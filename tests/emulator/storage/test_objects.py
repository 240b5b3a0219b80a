"""Objects."""

from __future__ import annotations

import io

import pytest
from google.api_core import exceptions
from google.pubsub_v1 import SubscriberClient
from servers.google_clients import connect, storage_client
from values.programs import BUCKET, PROJECT


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


def test_an_object_that_was_listed_is_downloaded_from_the_emulator(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    for name in ("a/one.txt", "100% sure? #1 ü"):
        bucket.blob(name).upload_from_string("eins")
        found = bucket.get_blob(name)
        (listed,) = bucket.list_blobs(prefix=name)

        assert found.media_link.startswith(f"http://{cloud.host}/download/")
        assert found.download_as_text() == listed.download_as_text() == "eins"


def test_a_part_of_an_object_is_downloaded(cloud, http):
    blob = storage_client(cloud).bucket(BUCKET).blob("one")
    blob.upload_from_string(bytes(range(256)) * 2048)
    whole, chunked = blob.download_as_bytes(), storage_client(cloud).bucket(BUCKET).blob("one", chunk_size=256 * 1024)

    assert blob.download_as_bytes(start=1, end=2) == b"\1\2"
    assert blob.download_as_bytes(start=len(whole) - 1) == b"\xff"
    assert blob.download_as_bytes(start=-3) == whole[-3:]
    assert chunked.download_as_bytes() == whole
    path = f"/storage/v1/b/{BUCKET}/o/one?alt=media"
    answers = [http.get(path, headers={"Range": f"bytes={part}"}) for part in ("0-", "600000-", "7-3", "1-2,4-5")]
    assert [answer.status_code for answer in answers] == [206, 416, 416, 200]


def test_an_object_is_copied_and_renamed(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.blob("one").upload_from_string("eins", content_type="text/plain")
    copied = bucket.copy_blob(bucket.blob("one"), bucket, "two")
    bucket.rename_blob(copied, "three")

    assert [blob.name for blob in bucket.list_blobs(versions=True)] == ["one", "three"]
    assert bucket.get_blob("three").content_type == "text/plain"


def test_only_the_newest_generation_of_an_object_exists(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.blob("one").upload_from_string("eins")
    old = bucket.get_blob("one")
    bucket.blob("one").upload_from_string("zwei")

    with pytest.raises(exceptions.NotFound, match="No such object"):
        old.download_as_text()
    with pytest.raises(exceptions.NotFound, match="No such object"):
        bucket.delete_blob("one", generation=old.generation)
    with pytest.raises(exceptions.NotFound, match="No such object"):
        bucket.blob("two").rewrite(bucket.blob("one", generation=old.generation))
    assert bucket.blob("one").download_as_text() == "zwei"


def test_the_conditions_of_a_call_are_checked(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    blob = bucket.blob("one")
    blob.upload_from_string("eins")
    same, other = blob.generation, blob.generation + 1

    for conditions in (
        {"if_generation_match": other},
        {"if_generation_not_match": same},
        {"if_metageneration_match": 2},
        {"if_metageneration_not_match": 1},
    ):
        with pytest.raises(exceptions.PreconditionFailed):
            blob.delete(**conditions)
        source = {name.replace("if_", "if_source_"): value for name, value in conditions.items()}
        with pytest.raises(exceptions.PreconditionFailed):
            bucket.blob("two").rewrite(blob, **source)
    with pytest.raises(exceptions.NotModified):
        blob.reload(if_generation_not_match=same)
    blob.reload(if_generation_match=same, if_generation_not_match=other)
    blob.delete(if_generation_match=same, if_metageneration_match=1)
    assert not blob.exists()


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
    assert removed == http.get(f"{path}/one?projection=full").json()


def test_an_update_replaces_the_metadata_of_an_object(http):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    http.patch(f"{path}/one", json={"metadata": {"a": "1"}})

    assert http.put(f"{path}/one", json={"metadata": {"b": "2"}}).json()["metadata"] == {"b": "2"}


def test_objects_are_copied_within_a_bucket_and_into_another(cloud):
    client = storage_client(cloud)
    bucket, other = client.bucket(BUCKET), client.create_bucket("copies")
    source = bucket.blob("a/one.txt")
    source.metadata = {"team": "a"}
    source.upload_from_string("eins", content_type="text/plain")
    other.blob("b/two.txt").rewrite(source)
    bucket.blob("a/three.txt").rewrite(source)

    for copy in (other.blob("b/two.txt"), bucket.blob("a/three.txt")):
        assert copy.download_as_text() == "eins"
        copy.reload()
        assert (copy.content_type, copy.metadata) == ("text/plain", {"team": "a"})
        assert copy.generation != source.generation
    with pytest.raises(exceptions.PreconditionFailed):
        other.blob("b/two.txt").rewrite(source, if_generation_match=0)
    with pytest.raises(exceptions.NotFound, match="a/missing"):
        other.blob("b/two.txt").rewrite(bucket.blob("a/missing"))
    with pytest.raises(exceptions.NotFound, match="bucket does not exist"):
        client.bucket("missing-bucket").blob("one").rewrite(source)


def test_a_content_type_that_no_header_can_hold_is_refused_also_for_copies(http):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    wrong = {"contentType": "text\nX: y"}

    assert http.patch(f"{path}/one", json=wrong).status_code == 400
    assert http.post(f"{path}/one/rewriteTo/b/{BUCKET}/o/two", json=wrong).status_code == 400
    assert http.patch(f"{path}/one", json={"contentType": None}).status_code == 200
    assert http.get(f"{path}/one?alt=media").headers["Content-Type"] == "application/octet-stream"


def test_a_copy_publishes_events_of_its_own_bucket(cloud):
    client = storage_client(cloud)
    source = client.create_bucket("sources").blob("one")
    source.upload_from_string("eins")
    client.bucket(BUCKET).notification("uploads", topic_project=PROJECT).create()
    subscriber = connect(SubscriberClient, cloud)
    subscription = f"projects/{PROJECT}/subscriptions/worker"
    subscriber.create_subscription(request={"name": subscription, "topic": f"projects/{PROJECT}/topics/uploads"})
    client.bucket(BUCKET).blob("two").rewrite(source)
    (received,) = subscriber.pull(subscription=subscription, max_messages=10).received_messages

    assert received.message.attributes["bucketId"] == BUCKET
    assert received.message.attributes["objectId"] == "two"


def test_the_content_of_an_object_is_read_as_by_the_xml_api(http):
    path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media"
    http.post(f"{path}&name=a%2Fone", content=b"eins", headers={"Content-Type": "text/plain"})

    assert http.get(f"/{BUCKET}/a%2Fone").text == "eins"
    assert http.get(f"/{BUCKET}/a%2Ftwo").status_code == 404
    assert "is not a path of any API" in http.get("/missing-bucket/one").text


def test_the_xml_api_has_conditions_in_headers_and_generations(http):
    path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=one"
    generation = http.post(path, content=b"eins", headers={"Content-Type": "text/plain"}).json()["generation"]

    def status(name, value):
        return http.get(f"/{BUCKET}/one", headers={name: value}).status_code

    assert status("x-goog-if-generation-match", generation) == 200
    assert status("x-goog-if-generation-match", "1") == 412
    assert status("x-goog-if-metageneration-not-match", "1") == 304
    assert status("x-goog-if-generation-match", "one") == 400
    assert http.get(f"/{BUCKET}/one?generation={generation}").text == "eins"
    assert http.get(f"/{BUCKET}/one?generation=1").status_code == 404


OBJECTS = f"/storage/v1/b/{BUCKET}/o"


@pytest.fixture
def versioned(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.versioning_enabled = True
    bucket.patch()
    return bucket


def test_a_versioned_bucket_keeps_what_is_overwritten_and_deleted(versioned):
    blob = versioned.blob("one")
    for content in ("eins", "uno"):
        blob.upload_from_string(content)
    first, second = sorted(versioned.list_blobs(versions=True), key=lambda found: found.generation)

    assert (first.time_deleted is None, second.time_deleted) == (False, None)
    assert versioned.blob("one", generation=first.generation).download_as_text() == "eins"
    versioned.blob("one").delete()
    assert list(versioned.list_blobs()) == []
    assert [found.generation for found in versioned.list_blobs(versions=True)] == [first.generation, second.generation]
    with pytest.raises(exceptions.NotFound):
        versioned.blob("one").download_as_bytes()
    versioned.copy_blob(first, versioned, "one", source_generation=first.generation)
    assert versioned.get_blob("one").download_as_text() == "eins"
    versioned.delete_blob("one", generation=first.generation)
    with pytest.raises(exceptions.NotFound):
        versioned.blob("one", generation=first.generation).download_as_bytes()


def test_a_bucket_without_versioning_keeps_only_the_live_version(cloud, http):
    blob = storage_client(cloud).bucket(BUCKET).blob("one")
    for content in ("eins", "uno"):
        blob.upload_from_string(content)

    (only,) = http.get(OBJECTS, params={"versions": "true"}).json()["items"]
    assert only["generation"] == str(blob.generation)


def test_a_version_that_is_no_longer_live_is_an_event_of_its_own(versioned, http, cloud):
    http.put(f"/v1/projects/{PROJECT}/subscriptions/worker", json={"topic": f"projects/{PROJECT}/topics/uploads"})
    versioned.notification("uploads", topic_project=PROJECT).create()
    blob = versioned.blob("one")
    blob.upload_from_string("eins")
    blob.upload_from_string("uno")
    versioned.blob("one").delete()
    pulled = http.post(f"/v1/projects/{PROJECT}/subscriptions/worker:pull", json={"maxMessages": 10}).json()
    events = [entry["message"]["attributes"]["eventType"] for entry in pulled["receivedMessages"]]

    assert events == ["OBJECT_FINALIZE", "OBJECT_ARCHIVE", "OBJECT_FINALIZE", "OBJECT_ARCHIVE"]


def test_the_etag_of_an_object_changes_with_its_content_and_its_metadata(cloud):
    blob = storage_client(cloud).bucket(BUCKET).blob("one")
    etags = []
    for change in (lambda: blob.upload_from_string("a"), lambda: blob.upload_from_string("a"), blob.patch):
        change()
        blob.reload()
        etags.append(blob.etag)

    assert len(set(etags)) == 3


def test_an_object_has_the_storage_class_of_its_bucket(cloud):
    bucket = storage_client(cloud).bucket("another-bucket")
    bucket.storage_class = "COLDLINE"
    made = storage_client(cloud).create_bucket(bucket)
    made.blob("one").upload_from_string("x")

    assert made.get_blob("one").storage_class == "COLDLINE"


NAMES = ["a.txt", "b/", "b/c.txt", "b/d/e.log", "f.log", "g"]


@pytest.mark.parametrize(("query", "names", "prefixes"), [
    ({"startOffset": "b/c.txt"}, NAMES[2:], []), ({"endOffset": "b/c.txt"}, NAMES[:2], []),
    ({"startOffset": "b/", "endOffset": "f.log", "delimiter": "/"}, [], ["b/"]),
    ({"delimiter": "/", "includeTrailingDelimiter": "true"}, ["a.txt", "b/", "f.log", "g"], ["b/"]),
    ({"prefix": "b/", "delimiter": "/"}, ["b/", "b/c.txt"], ["b/d/"]),
    ({"matchGlob": "*.txt"}, ["a.txt"], []), ({"matchGlob": "**.txt"}, ["a.txt", "b/c.txt"], []),
    ({"matchGlob": "b/**"}, NAMES[1:4], []), ({"matchGlob": "?.{txt,log}"}, ["a.txt", "f.log"], []),
    ({"matchGlob": "[!a].log"}, ["f.log"], []), ({"matchGlob": "[a-b].txt"}, ["a.txt"], []),
])  # fmt: skip
def test_a_list_has_the_objects_that_its_parameters_ask_for(cloud, http, query, names, prefixes):
    for name in NAMES:
        storage_client(cloud).bucket(BUCKET).blob(name).upload_from_string("x")
    found = http.get(OBJECTS, params=query).json()

    assert ([item["name"] for item in found.get("items", [])], found.get("prefixes", [])) == (names, prefixes)
    paged, token = [], ""
    while token is not None:
        page = http.get(OBJECTS, params={**query, "maxResults": 1, **({"pageToken": token} if token else {})}).json()
        shown = [*(item["name"] for item in page.get("items", [])), *page.get("prefixes", [])]
        assert len(shown) <= 1
        paged += shown
        token = page.get("nextPageToken")
    assert sorted(paged) == sorted([*names, *prefixes])


@pytest.mark.parametrize("query", [{"softDeleted": "true"}, {"filter": "contexts.a:*"}])
def test_lists_that_are_not_emulated_are_refused(http, query):
    assert http.get(OBJECTS, params=query).status_code == 501


def test_a_pattern_with_many_stars_takes_no_longer_than_others(cloud, http):
    storage_client(cloud).bucket(BUCKET).blob("a" * 200).upload_from_string("x")

    assert "items" not in http.get(OBJECTS, params={"matchGlob": "*a" * 50 + "b"}).json()


@pytest.mark.parametrize("headers", [{}, {"Range": "bytes=0-3"}], ids=["whole", "part"])
def test_a_stored_page_has_not_the_origin_of_the_emulator(cloud, http, headers):
    storage_client(cloud).bucket(BUCKET).blob("page").upload_from_string("<script>", content_type="text/html")
    found = http.get(f"{OBJECTS}/page", params={"alt": "media"}, headers=headers).headers

    assert found["content-type"].startswith("text/html")
    assert (found["content-security-policy"], found["x-content-type-options"]) == ("sandbox", "nosniff")


def test_a_malformed_pattern_is_refused(cloud, http):
    storage_client(cloud).bucket(BUCKET).blob("one").upload_from_string("x")

    assert http.get(OBJECTS, params={"matchGlob": "{a"}).status_code == 400


def test_objects_are_composed(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    parts = [bucket.blob("one"), bucket.blob("two")]
    for part, text in zip(parts, ("eins ", "zwei"), strict=True):
        part.upload_from_string(text)
    whole = bucket.blob("whole")
    whole.content_type = "text/plain"
    whole.compose(parts, if_generation_match=0)
    found = bucket.get_blob("whole")
    twice = bucket.blob("twice")
    twice.compose([found, parts[0]])

    assert (found.size, found.content_type, found.download_as_text()) == (9, "text/plain", "eins zwei")
    assert (found.component_count, found.md5_hash) == (2, None)
    assert (twice.download_as_text(), twice.component_count) == ("eins zweieins ", 3)
    with pytest.raises(exceptions.PreconditionFailed):
        whole.compose(parts, if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        whole.compose(parts, if_source_generation_match=[1, 1])
    with pytest.raises(exceptions.NotFound):
        whole.compose([bucket.blob("none")])


def test_a_composition_is_limited_and_deletes_its_sources_if_it_is_told_to(cloud, http):
    bucket, compose = storage_client(cloud).bucket(BUCKET), f"/storage/v1/b/{BUCKET}/o/whole/compose"
    bucket.blob("one").upload_from_string("eins")
    refused = [
        http.post(compose, json={"sourceObjects": sources}).status_code
        for sources in ([], [{"name": "one"}] * 33, [{"name": ""}])
    ]
    held = http.post(compose, json={"sourceObjects": [{"name": "one"}], "destination": {"contexts": {"custom": {}}}})
    made = http.post(compose, json={"sourceObjects": [{"name": "one"}], "deleteSourceObjects": True})

    assert (refused, held.status_code, made.status_code) == ([400, 400, 400], 501, 200), made.text
    assert [blob.name for blob in bucket.list_blobs()] == ["whole"]


def test_an_upload_may_write_its_boundary_between_single_quotes(cloud, http):
    lines = ["--=a=", "Content-Type: application/json", "", '{"name": "one"}', "--=a=", "Content-Type: text/plain", ""]
    body = "\n".join([*lines, "eins", "--=a=--"])
    headers = {"Content-Type": "multipart/related; boundary='=a='"}
    made = http.post(f"/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart", content=body, headers=headers)

    assert made.status_code == 200, made.text
    assert storage_client(cloud).bucket(BUCKET).blob("one").download_as_text() == "eins"
