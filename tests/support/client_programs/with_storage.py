"""Buckets and objects with google-cloud-storage."""

import datetime as dt
from contextlib import suppress

from google.api_core.exceptions import PreconditionFailed
from google.cloud import storage
from steps import PROJECT, step

client = storage.Client()

with step("create, label and list buckets"):
    bucket = client.create_bucket("uploads", location="us-east1")
    bucket.labels = {"a": "b"}
    bucket.patch()
    assert [found.name for found in client.list_buckets()] == ["uploads"]
with step("upload and download"):
    bucket.blob("small.txt").upload_from_string("some text", content_type="text/plain")
    assert bucket.blob("small.txt").download_as_text() == "some text"
    assert bucket.blob("small.txt").download_as_bytes(start=5, end=8) == b"text"
with step("upload in parts"):
    blob = bucket.blob("large", chunk_size=262144)
    blob.upload_from_string(b"x" * 600000)
    assert blob.size == 600000
with step("write and read like a file"):
    with bucket.blob("lines.txt").open("w") as file:
        file.write("one\ntwo\n")
    with bucket.blob("lines.txt").open("r") as file:
        assert file.read() == "one\ntwo\n"
with step("list objects and prefixes"):
    bucket.blob("a/b.txt").upload_from_string("x")
    found = client.list_blobs("uploads", delimiter="/")
    assert [blob.name for blob in found] == ["large", "lines.txt", "small.txt"]
    assert found.prefixes == {"a/"}
with step("copy, rewrite and rename"):
    bucket.copy_blob(bucket.blob("small.txt"), bucket, "copy.txt")
    bucket.blob("rewritten.txt").rewrite(bucket.blob("small.txt"))
    bucket.rename_blob(bucket.blob("copy.txt"), "renamed.txt")
with step("compose"):
    bucket.blob("both.txt").compose([bucket.blob("renamed.txt"), bucket.blob("small.txt")])
with step("refuse an upload by a precondition"), suppress(PreconditionFailed):
    bucket.blob("small.txt").upload_from_string("other", if_generation_match=0)
    raise AssertionError("accepted")
with step("set metadata"):
    blob = bucket.blob("small.txt")
    blob.metadata = {"key": "value"}
    blob.patch()
    assert bucket.get_blob("small.txt").metadata == {"key": "value"}
with step("keep versions"):
    bucket.versioning_enabled = True
    bucket.patch()
with step("change the IAM policy of a bucket"):
    policy = bucket.get_iam_policy(requested_policy_version=3)
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"user:me@example.com"}})
    bucket.set_iam_policy(policy)
with step("delete several objects in a batch"), client.batch():
    bucket.blob("renamed.txt").delete()
    bucket.blob("rewritten.txt").delete()
with step("notify a topic"):
    from google.pubsub_v1 import PublisherClient

    publisher = PublisherClient(transport="rest")
    topic = publisher.create_topic(name=f"projects/{PROJECT}/topics/uploads").name
    agent = client.get_service_account_email()
    binding = {"role": "roles/pubsub.publisher", "members": [f"serviceAccount:{agent}"]}
    publisher.set_iam_policy(request={"resource": topic, "policy": {"bindings": [binding]}})
    bucket.notification("uploads", payload_format="JSON_API_V1").create()
with step("set lifecycle rules"):
    bucket.add_lifecycle_delete_rule(age=2)
    bucket.patch()
with step("download with a signed URL"):
    import requests

    url = bucket.blob("small.txt").generate_signed_url(dt.timedelta(minutes=5), version="v4")
    answer = requests.get(url, timeout=60)
    assert answer.ok, answer.text
with step("change the ACL of an object"):
    acl = bucket.blob("small.txt").acl
    acl.user("me@example.com").grant_read()
    acl.save()
with step("upload with a key of the customer"):
    bucket.blob("secret", encryption_key=b"k" * 32).upload_from_string("x")
with step("create an HMAC key"):
    client.create_hmac_key(service_account_email=f"emulator@{PROJECT}.iam.gserviceaccount.com")
with step("delete a bucket with its objects"):
    bucket.delete(force=True)
