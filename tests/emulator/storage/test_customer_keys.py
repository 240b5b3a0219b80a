"""Customer-supplied keys of objects: their hash is stored, and the content is read with the key only."""

from __future__ import annotations

import base64
import hashlib

import pytest
from google.api_core import exceptions
from servers.google_clients import storage_client
from values.programs import BUCKET

OBJECTS = f"/storage/v1/b/{BUCKET}/o"
KEY, OTHER = b"k" * 32, b"o" * 32


def _headers(key, words=""):
    text, digest = base64.b64encode(key).decode(), base64.b64encode(hashlib.sha256(key).digest()).decode()
    beginning = f"x-goog-{words}encryption-"
    return {f"{beginning}algorithm": "AES256", f"{beginning}key": text, f"{beginning}key-sha256": digest}


def _uploaded(http, name="notes", **headers):
    path = f"/upload{OBJECTS}?uploadType=media&name={name}"
    return http.post(path, content=b"text", headers=headers)


def _refusal(answer):
    return answer.status_code, answer.json()["error"]["errors"][0]["reason"]


def test_the_hash_of_a_key_is_stored_and_the_content_is_read_with_the_key(http):
    made = _uploaded(http, **_headers(KEY)).json()
    read = http.get(f"{OBJECTS}/notes?alt=media", headers=_headers(KEY))

    digest = base64.b64encode(hashlib.sha256(KEY).digest()).decode()
    assert made["customerEncryption"] == {"encryptionAlgorithm": "AES256", "keySha256": digest}
    assert (read.content, read.headers["x-goog-encryption-key-sha256"]) == (b"text", digest)
    assert http.get(f"/{BUCKET}/notes", headers=_headers(KEY)).content == b"text"
    assert base64.b64encode(KEY).decode() not in http.get("/_emulator/requests").text


def test_without_the_key_nothing_of_the_content_is_shown(http):
    made = _uploaded(http, **_headers(KEY)).json()
    read, listed = http.get(f"{OBJECTS}/notes").json(), http.get(OBJECTS).json()["items"][0]

    assert {"crc32c", "md5Hash"} <= made.keys()
    assert read == listed
    assert made.keys() - read.keys() == {"crc32c", "md5Hash"}
    assert http.get(f"{OBJECTS}/notes", headers=_headers(KEY)).json() == made
    media, by_xml = http.get(f"{OBJECTS}/notes?alt=media"), http.get(f"/{BUCKET}/notes")
    assert _refusal(media) == (400, "resourceIsEncryptedWithCustomerEncryptionKey")
    assert (by_xml.status_code, "encrypted by a customer-supplied" in by_xml.text) == (400, True)


@pytest.mark.parametrize(("change", "reason"), [
    ({"x-goog-encryption-algorithm": "AES128"}, "customerEncryptionAlgorithmIsInvalid"),
    ({"x-goog-encryption-key": "!"}, "customerEncryptionKeyFormatIsInvalid"),
    ({"x-goog-encryption-key": "YQ=="}, "customerEncryptionKeyFormatIsInvalid"),
    ({"x-goog-encryption-key-sha256": "YQ=="}, "customerEncryptionKeySha256IsInvalid"),
])  # fmt: skip
def test_a_key_that_is_malformed_is_refused(http, change, reason):
    assert _refusal(_uploaded(http, **_headers(KEY) | change)) == (400, reason)
    assert "items" not in http.get(OBJECTS).json()


def test_another_key_is_refused(http):
    _uploaded(http, **_headers(KEY))
    _uploaded(http, "plain")

    assert _refusal(http.get(f"{OBJECTS}/notes", headers=_headers(OTHER))) == (400, "customerEncryptionKeyIsIncorrect")
    plain = http.get(f"{OBJECTS}/plain?alt=media", headers=_headers(KEY))
    assert _refusal(plain) == (400, "resourceNotEncryptedWithCustomerEncryptionKey")


@pytest.mark.parametrize("verb", ["copy", "rewrite"])
def test_a_copy_needs_the_key_of_its_source_and_has_its_own(http, verb):
    _uploaded(http, **_headers(KEY))
    path = f"{OBJECTS}/notes/{verb}To/b/{BUCKET}/o/"
    refused = http.post(f"{path}none")
    source = _headers(KEY, "copy-source-")
    assert http.post(f"{path}plain", headers=source).status_code == 200
    assert http.post(f"{path}locked", headers=source | _headers(OTHER)).status_code == 200

    assert _refusal(refused) == (400, "resourceIsEncryptedWithCustomerEncryptionKey")
    assert http.get(f"{OBJECTS}/plain?alt=media").content == b"text"
    assert http.get(f"{OBJECTS}/locked?alt=media", headers=_headers(OTHER)).content == b"text"
    assert http.get(f"{OBJECTS}/locked?alt=media").status_code == 400


def test_a_composition_has_the_key_of_its_sources(http):
    _uploaded(http, **_headers(KEY))
    path, body = f"{OBJECTS}/whole/compose", {"sourceObjects": [{"name": "notes"}, {"name": "notes"}]}

    assert _refusal(http.post(path, json=body)) == (400, "resourceIsEncryptedWithCustomerEncryptionKey")
    assert http.post(path, json=body, headers=_headers(KEY)).status_code == 200
    assert http.get(f"{OBJECTS}/whole?alt=media", headers=_headers(KEY)).content == b"texttext"
    assert http.get(f"{OBJECTS}/whole?alt=media").status_code == 400


def test_a_resumable_upload_keeps_the_key_of_its_first_request(http):
    path = f"/upload{OBJECTS}?uploadType=resumable&name=notes"
    session = http.post(path, json={}, headers=_headers(KEY)).headers["location"]
    http.put(session, content=b"text")

    assert http.get(f"{OBJECTS}/notes?alt=media").status_code == 400
    assert http.get(f"{OBJECTS}/notes?alt=media", headers=_headers(KEY)).content == b"text"


def test_an_object_has_one_kind_of_key(http):
    key = "projects/p/locations/us/keyRings/r/cryptoKeys/k"
    http.patch(f"/storage/v1/b/{BUCKET}", json={"encryption": {"defaultKmsKeyName": key}})
    made = _uploaded(http, **_headers(KEY)).json()
    both = http.post(f"/upload{OBJECTS}?uploadType=media&name=a&kmsKeyName={key}", headers=_headers(KEY), content=b"")

    assert "kmsKeyName" not in made
    assert both.status_code == 400


def test_a_method_without_keys_refuses_them_by_its_name(http):
    answer = http.get(f"/storage/v1/b/{BUCKET}", headers=_headers(KEY))

    assert (answer.status_code, "storage.buckets.get with a customer-supplied" in answer.text) == (501, True)


def test_googles_client_reads_with_the_key(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.blob("notes", encryption_key=KEY, chunk_size=256 * 1024).upload_from_string(b"x" * 300_000)

    assert bucket.blob("notes", encryption_key=KEY).download_as_bytes() == b"x" * 300_000
    with pytest.raises(exceptions.BadRequest):
        bucket.blob("notes").download_as_bytes()
    rotated = bucket.blob("notes", encryption_key=OTHER)
    rotated.rewrite(bucket.blob("notes", encryption_key=KEY))
    assert rotated.download_as_bytes() == b"x" * 300_000
