"""Buckets."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from servers.google_clients import storage_client
from values.programs import BUCKET, PROJECT


def test_a_bucket_is_created_listed_and_deleted_with_its_notification_configurations(cloud):
    client = storage_client(cloud)
    bucket = client.create_bucket("another-bucket", location="europe-west1")
    bucket.notification("uploads", topic_project=PROJECT).create()

    assert bucket.location == "EUROPE-WEST1"
    assert "another-bucket" in [item.name for item in client.list_buckets()]
    bucket.delete()
    assert not bucket.exists()
    assert cloud.get("b/another-bucket/notificationConfigs/1") is None


def test_configurations_of_a_bucket_that_is_made_anew_are_numbered_from_1(cloud):
    client = storage_client(cloud)
    for _ in range(2):
        bucket = client.create_bucket("another-bucket")
        config = bucket.notification("uploads", topic_project=PROJECT)
        config.create()
        bucket.delete()

        assert config.notification_id == "1"


def test_an_existing_name_and_a_missing_bucket_are_errors(cloud):
    client = storage_client(cloud)
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(BUCKET)
    with pytest.raises(exceptions.NotFound):
        client.get_bucket("missing-bucket")


BUCKETS = "/storage/v1/b"


def _made(http, name="made", **body):
    answer = http.post(f"{BUCKETS}?project={PROJECT}", json={"name": name, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_new_bucket_has_what_google_gives_it(http):
    bucket = _made(http)
    regional = _made(
        http, "other", location="us-east1", iamConfiguration={"uniformBucketLevelAccess": {"enabled": True}}
    )

    assert (bucket["location"], bucket["locationType"], bucket["rpo"]) == ("US", "multi-region", "DEFAULT")
    assert bucket["iamConfiguration"] == {
        "bucketPolicyOnly": {"enabled": False},
        "uniformBucketLevelAccess": {"enabled": False},
        "publicAccessPrevention": "inherited",
    }
    assert bucket["softDeletePolicy"]["retentionDurationSeconds"] == "604800"
    assert (bucket["metageneration"], bucket["etag"]) == ("1", "CAE=")
    assert (regional["location"], regional["locationType"], "rpo" in regional) == ("US-EAST1", "region", False)
    assert regional["iamConfiguration"]["bucketPolicyOnly"] == {"enabled": True}


def test_a_patch_merges_and_an_update_replaces(http):
    _made(http, labels={"a": "1", "b": "2"}, versioning={"enabled": True}, storageClass="NEARLINE")
    patched = http.patch(f"{BUCKETS}/made", json={"labels": {"b": None, "c": "3"}, "website": {"mainPageSuffix": "i"}})

    assert patched.json()["labels"] == {"a": "1", "c": "3"}
    assert (patched.json()["versioning"], patched.json()["storageClass"]) == ({"enabled": True}, "NEARLINE")
    read = http.get(f"{BUCKETS}/made").json()
    assert (read["metageneration"], read["etag"], "acl" in read) == ("2", "CAI=", False)
    assert [entry["role"] for entry in patched.json()["acl"]] == ["OWNER", "OWNER", "READER"]
    updated = http.put(f"{BUCKETS}/made", json={"labels": {"d": "4"}}).json()
    assert (updated["labels"], updated["metageneration"], updated["etag"]) == ({"d": "4"}, "3", "CAM=")
    assert ("versioning" in updated, "website" in updated, updated["storageClass"]) == (False, False, "STANDARD")
    assert updated["timeCreated"] == read["timeCreated"]


@pytest.mark.parametrize("change", [{"location": "EU"}, {"name": "other-name"}])
def test_where_a_bucket_is_and_its_name_do_not_change(http, change):
    _made(http)

    assert http.patch(f"{BUCKETS}/made", json=change).status_code == 400
    assert http.patch(f"{BUCKETS}/made", json={"location": "us"}).status_code == 200


def test_a_client_changes_labels_and_versioning(cloud):
    bucket = storage_client(cloud).create_bucket("another-bucket")
    bucket.labels = {"a": "b"}
    bucket.versioning_enabled = True
    bucket.patch()
    found = storage_client(cloud).get_bucket("another-bucket")

    assert (found.labels, found.versioning_enabled, found.metageneration) == ({"a": "b"}, True, 2)
    found.update()
    found.reload()
    assert (found.labels, found.metageneration) == ({"a": "b"}, 3)


@pytest.mark.parametrize(("method", "status"), [("GET", 304), ("PATCH", 412), ("PUT", 412), ("DELETE", 412)])
def test_conditions_on_the_metageneration_are_checked(http, method, status):
    _made(http)
    body = {"json": {}} if method.startswith("P") else {}

    def tried(**query):
        return http.request(method, f"{BUCKETS}/made", params=query, **body).status_code

    assert tried(ifMetagenerationMatch=2) == 412
    assert tried(ifMetagenerationNotMatch=1) == status
    assert http.get(f"{BUCKETS}/made").json()["metageneration"] == "1"
    assert tried(ifMetagenerationMatch=1) in {200, 204}


def test_notification_configurations_change_the_metageneration_of_their_bucket(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    config = bucket.notification("uploads", topic_project=PROJECT)
    config.create()
    config.delete()
    bucket.reload()

    assert (bucket.metageneration, bucket.etag) == (3, "CAM=")


@pytest.mark.parametrize("name", [
    "ab", "Upper", "-a-b", "ab-", "a" * 64, f"{'a' * 64}.b", "a..b", "192.168.5.4", "goog-bucket", "my-google-bucket",
    "a b", "g00gle",
])  # fmt: skip
def test_names_that_no_bucket_can_have_are_refused(http, name):
    answer = http.post(f"{BUCKETS}?project={PROJECT}", json={"name": name})

    assert (answer.status_code, "Invalid bucket name" in answer.text) == (400, True)


@pytest.mark.parametrize("name", ["abc", "a" * 63, f"{'a' * 63}.{'b' * 63}", "1_2-3", "192.168.5.4.a"])
def test_names_that_a_bucket_can_have_are_accepted(http, name):
    assert _made(http, name)["name"] == name


def test_a_bucket_with_noncurrent_versions_is_not_empty(cloud):
    bucket = storage_client(cloud).create_bucket("another-bucket")
    bucket.versioning_enabled = True
    bucket.patch()
    bucket.blob("one").upload_from_string("x")
    bucket.blob("one").delete()

    with pytest.raises(exceptions.Conflict, match="not empty"):
        bucket.delete()


READER = {"role": "roles/storage.objectViewer", "members": {"user:reader@example.com"}}
CONDITION = {"title": "soon", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}


def test_the_policy_of_a_bucket_is_kept_with_its_conditions(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    policy = bucket.get_iam_policy(requested_policy_version=3)
    assert [binding["role"] for binding in policy.bindings] == [
        "roles/storage.legacyBucketOwner",
        "roles/storage.legacyBucketReader",
    ]
    policy.version = 3
    policy.bindings.append({**READER, "condition": CONDITION})
    changed = bucket.set_iam_policy(policy)

    assert (changed.version, changed.etag) == (3, "CAI=")
    read = bucket.get_iam_policy(requested_policy_version=3)
    assert [binding["condition"] for binding in read.bindings if "condition" in binding] == [CONDITION]
    with pytest.raises(exceptions.BadRequest, match="request version 3"):
        bucket.get_iam_policy()
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.set_iam_policy(policy)
    read.version = 1
    with pytest.raises(exceptions.BadRequest, match="must have version 3"):
        bucket.set_iam_policy(read)


@pytest.mark.parametrize("wrong", [
    {"version": 2}, {"bindings": [{"role": "owner", "members": ["allUsers"]}]},
    {"bindings": [{"role": "roles/viewer", "members": ["me@example.com"]}]},
    {"version": 3, "bindings": [{"role": "roles/viewer", "members": ["allUsers"], "condition": {"title": "t"}}]},
])  # fmt: skip
def test_a_malformed_policy_is_refused(http, wrong):
    assert http.put(f"{BUCKETS}/{BUCKET}/iam", json=wrong).status_code == 400


def test_the_permissions_that_the_caller_has_are_named(cloud, http):
    bindings = [{"permission": "storage.buckets.update", "members": ["somebody@example.com"]}]
    http.post("/_emulator/policy", json={"bindings": bindings})
    held = storage_client(cloud).bucket(BUCKET).test_iam_permissions(["storage.buckets.get", "storage.buckets.update"])

    assert held == ["storage.buckets.get"]


def test_a_locked_retention_policy_only_becomes_longer(http):
    http.post(f"/storage/v1/b?project={PROJECT}", json={"name": "held", "retentionPolicy": {"retentionPeriod": "60"}})
    stale = http.post("/storage/v1/b/held/lockRetentionPolicy?ifMetagenerationMatch=7")
    locked = http.post("/storage/v1/b/held/lockRetentionPolicy?ifMetagenerationMatch=1")
    periods = [
        http.patch("/storage/v1/b/held", json={"retentionPolicy": policy}).status_code
        for policy in (None, {"retentionPeriod": "59"}, {"retentionPeriod": "61"})
    ]

    assert (stale.status_code, locked.status_code, periods) == (412, 200, [403, 403, 200])
    assert http.get("/storage/v1/b/held").json()["retentionPolicy"]["isLocked"] is True


def test_a_bucket_without_retention_policy_has_nothing_to_lock(http):
    assert http.post(f"/storage/v1/b/{BUCKET}/lockRetentionPolicy?ifMetagenerationMatch=1").status_code == 400


@pytest.mark.parametrize(
    "policy",
    [{"retentionDurationSeconds": "864000"}, {"retentionDurationSeconds": "0", "hardDeletePause": {"enabled": True}}],
)
def test_a_soft_delete_policy_without_effect_is_refused(http, policy):
    _made(http, "another")
    made = http.post(f"{BUCKETS}?project={PROJECT}", json={"name": "made", "softDeletePolicy": policy})
    patched = http.patch(f"{BUCKETS}/another", json={"softDeletePolicy": policy})
    why = "with a 'softDeletePolicy' other than 604800 or 0 seconds is not emulated"

    assert (made.status_code, patched.status_code) == (501, 501)
    assert made.json()["error"]["message"] == f"storage.buckets.insert {why}"
    assert patched.json()["error"]["message"] == f"storage.buckets.patch {why}"


def test_soft_deletion_is_on_by_default_and_is_switched_off(http):
    off = _made(http, softDeletePolicy={"retentionDurationSeconds": "0"})
    patched = http.patch(f"{BUCKETS}/made", json={"softDeletePolicy": {"retentionDurationSeconds": "604800"}})

    assert off["softDeletePolicy"]["retentionDurationSeconds"] == "0"
    assert patched.json()["softDeletePolicy"]["retentionDurationSeconds"] == "604800"


def test_a_deletion_may_have_the_projection_of_reads(cloud, http):
    storage_client(cloud).create_bucket("another-bucket")

    assert http.delete("/storage/v1/b/another-bucket", params={"projection": "full"}).status_code == 204


def test_the_layout_of_a_bucket_is_read(http):
    _made(http, location="us-east1", hierarchicalNamespace={"enabled": True})

    assert http.get(f"{BUCKETS}/made/storageLayout").json() == {
        "kind": "storage#storageLayout",
        "bucket": "made",
        "location": "US-EAST1",
        "locationType": "region",
        "hierarchicalNamespace": {"enabled": True},
    }
    assert http.get(f"{BUCKETS}/missing/storageLayout").status_code == 404


def test_a_bucket_has_no_managed_folders(http):
    _made(http)

    assert http.get(f"{BUCKETS}/made/managedFolders").json() == {"kind": "storage#managedFolders"}
    assert http.post(f"{BUCKETS}/made/managedFolders", json={"name": "a/"}).status_code == 501
    assert http.get(f"{BUCKETS}/missing/managedFolders").status_code == 404
