"""Access control lists of buckets, of their new objects, and of objects."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from servers.google_clients import storage_client
from values.programs import BUCKET, PROJECT

B = f"/storage/v1/b/{BUCKET}"
OBJECT = f"{B}/o/notes"
LISTS = {"bucket": f"{B}/acl", "default": f"{B}/defaultObjectAcl", "object": f"{OBJECT}/acl"}
ALL = {"entity": "allUsers", "role": "READER"}
MORE = "Read more at https://cloud.google.com/storage/docs/uniform-bucket-level-access"


@pytest.fixture
def number(http):
    """The number of the project."""
    return http.get(B).json()["projectNumber"]


@pytest.fixture(autouse=True)
def _notes(http):
    assert _uploaded(http, "notes").status_code == 200


def _uploaded(http, name, **query):
    path = f"/upload/storage/v1/b/{BUCKET}/o"
    return http.post(path, params={"uploadType": "media", "name": name, **query}, content=b"text")


def _entries(http, path):
    return [(item["entity"], item["role"]) for item in http.get(path).json().get("items", [])]


def _set_uniform(http, *, enabled=True):
    body = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": enabled}}}
    assert http.patch(B, json=body).status_code == 200


def test_a_new_bucket_and_object_have_the_lists_of_google(http, number):
    team = [(f"project-owners-{number}", "OWNER"), (f"project-editors-{number}", "OWNER")]
    team.append((f"project-viewers-{number}", "READER"))

    assert _entries(http, LISTS["bucket"]) == _entries(http, LISTS["default"]) == team
    assert _entries(http, LISTS["object"]) == [*team, ("user-operator@example.com", "OWNER")]
    kinds = [http.get(path).json()["kind"] for path in LISTS.values()]
    assert kinds == ["storage#bucketAccessControls", "storage#objectAccessControls", "storage#objectAccessControls"]


def test_an_entry_is_shown_with_what_it_belongs_to(http, number):
    shown = http.post(LISTS["object"], json={"entity": "user-Ann@Example.com", "role": "READER"}).json()
    item = http.get(OBJECT).json()
    team = http.get(f"{LISTS['bucket']}/project-viewers-{PROJECT}").json()
    bucket = http.get(B).json()

    assert shown == {
        "kind": "storage#objectAccessControl",
        "id": f"{item['id']}/user-ann@example.com",
        "selfLink": f"{item['selfLink']}/acl/user-ann@example.com",
        "bucket": BUCKET,
        "object": "notes",
        "generation": item["generation"],
        "entity": "user-ann@example.com",
        "email": "ann@example.com",
        "role": "READER",
        "etag": item["etag"],
    }
    assert team == {
        "kind": "storage#bucketAccessControl",
        "id": f"{BUCKET}/project-viewers-{number}",
        "selfLink": f"{bucket['selfLink']}/acl/project-viewers-{number}",
        "bucket": BUCKET,
        "entity": f"project-viewers-{number}",
        "role": "READER",
        "etag": bucket["etag"],
        "projectTeam": {"projectNumber": number, "team": "viewers"},
    }


@pytest.mark.parametrize("path", LISTS.values(), ids=LISTS)
def test_an_entry_is_added_changed_and_removed(http, path):
    before = _entries(http, path)
    owner = OBJECT if path.startswith(OBJECT) else B
    metageneration = int(http.get(owner).json()["metageneration"])
    assert http.post(path, json=ALL).json()["role"] == "READER"
    assert http.post(path, json=ALL | {"role": "OWNER"}).status_code == 200
    assert _entries(http, path) == [*before, ("allUsers", "OWNER")]
    assert http.patch(f"{path}/allUsers", json={"role": "READER"}).json()["role"] == "READER"
    assert http.put(f"{path}/allUsers", json=ALL).json() == http.get(f"{path}/allUsers").json()
    assert http.delete(f"{path}/allUsers").status_code == 204

    assert _entries(http, path) == before
    assert http.get(f"{path}/allUsers").status_code == http.patch(f"{path}/allUsers", json=ALL).status_code == 404
    assert int(http.get(owner).json()["metageneration"]) == metageneration + 5


@pytest.mark.parametrize(("body", "status"), [
    ({"role": "READER"}, 400), ({"entity": "allUsers"}, 400), ({"entity": "allUsers", "role": "reader"}, 400),
    ({"entity": "somebody", "role": "READER"}, 400), ({"entity": "user-operator@example.com", "role": "READER"}, 403),
    ({"entity": "allUsers", "role": "WRITER"}, 400),
])  # fmt: skip
def test_an_entry_that_cannot_be_is_refused(http, body, status):
    before = _entries(http, LISTS["object"])

    assert http.post(LISTS["object"], json=body).status_code == status
    assert _entries(http, LISTS["object"]) == before
    assert http.post(LISTS["bucket"], json={"entity": "allUsers", "role": "WRITER"}).status_code == 200
    assert http.delete(f"{LISTS['object']}/user-operator@example.com").status_code == 403


def test_a_list_has_at_most_100_entries(http):
    for index in range(97):
        assert http.post(LISTS["default"], json={"entity": f"user-{index}@example.com", "role": "READER"}).is_success
    late = http.post(LISTS["default"], json=ALL)

    assert late.json()["error"]["errors"][0]["reason"] == "tooManyAccessControlEntries"


@pytest.mark.parametrize(("name", "others"), [
    ("private", []), ("publicRead", [("allUsers", "READER")]),
    ("authenticatedRead", [("allAuthenticatedUsers", "READER")]),
    ("bucketOwnerRead", [("project-owners-{}", "READER")]), ("bucketOwnerFullControl", [("project-owners-{}", "OWNER")]),
    ("projectPrivate", [("project-owners-{}", "OWNER"), ("project-editors-{}", "OWNER"), ("project-viewers-{}", "READER")]),
])  # fmt: skip
def test_an_object_gets_a_predefined_list(http, number, name, others):
    expected = [("user-operator@example.com", "OWNER"), *((entity.format(number), role) for entity, role in others)]
    answer = _uploaded(http, "new", predefinedAcl=name, projection="full")
    copied = http.post(f"{OBJECT}/copyTo/b/{BUCKET}/o/copy", params={"destinationPredefinedAcl": name})
    compose = f"{B}/o/composed/compose"
    composed = http.post(
        compose, params={"destinationPredefinedAcl": name}, json={"sourceObjects": [{"name": "notes"}]}
    )
    http.patch(OBJECT, params={"predefinedAcl": name}, json={"acl": []})

    assert [(item["entity"], item["role"]) for item in answer.json()["acl"]] == expected
    assert answer.json()["owner"] == {"entity": "user-operator@example.com"}
    assert copied.is_success, copied.text
    assert composed.is_success, composed.text
    for other in ("copy", "composed", "notes"):
        assert _entries(http, f"{B}/o/{other}/acl") == expected


@pytest.mark.parametrize(("name", "others"), [
    ("private", []), ("publicRead", [("allUsers", "READER")]), ("publicReadWrite", [("allUsers", "WRITER")]),
    ("authenticatedRead", [("allAuthenticatedUsers", "READER")]),
    ("projectPrivate", [("project-editors-{}", "OWNER"), ("project-viewers-{}", "READER")]),
])  # fmt: skip
def test_a_bucket_gets_a_predefined_list(http, number, name, others):
    expected = [(f"project-owners-{number}", "OWNER"), *((entity.format(number), role) for entity, role in others)]
    lists = {"predefinedAcl": name, "predefinedDefaultObjectAcl": "private"}
    made = http.post("/storage/v1/b", params={"project": PROJECT, **lists}, json={"name": "made"})
    http.patch(B, params=lists, json={})
    http.patch(B, json={"labels": {"a": "b"}})

    assert "acl" not in made.json()
    for path in ("/storage/v1/b/made", B):
        assert _entries(http, f"{path}/acl") == expected
        assert _entries(http, f"{path}/defaultObjectAcl") == []


def test_a_new_object_gets_the_list_of_its_bucket(http):
    http.patch(B, json={"defaultObjectAcl": [ALL]})
    _uploaded(http, "new")

    assert _entries(http, f"{B}/o/new/acl") == [("allUsers", "READER"), ("user-operator@example.com", "OWNER")]
    assert ("allUsers", "READER") not in _entries(http, LISTS["object"]), "objects that exist keep their list"


def test_lists_are_shown_in_the_full_projection(http):
    read, full = http.get(OBJECT).json(), http.get(OBJECT, params={"projection": "full"}).json()
    listed = http.get(f"{B}/o", params={"projection": "full"}).json()["items"]
    entries = http.get(LISTS["object"]).json()["items"]
    patched = http.patch(OBJECT, json={"acl": [ALL]}).json()
    bucket = http.get(B, params={"projection": "full"}).json()

    assert {"acl", "owner"}.isdisjoint(read)
    assert full["acl"] == entries
    assert (full["owner"], "acl" in listed[0]) == ({"entity": "user-operator@example.com"}, True)
    assert [item["entity"] for item in patched["acl"]] == ["allUsers", "user-operator@example.com"]
    assert bucket["owner"] == {"entity": f"project-owners-{bucket['projectNumber']}"}


def test_a_predefined_list_and_entries_exclude_each_other(http):
    answer = http.patch(OBJECT, params={"predefinedAcl": "private"}, json={"acl": [ALL]})

    assert answer.status_code == 409
    assert answer.json()["error"]["message"] == "Cannot provide both a predefinedAcl and access controls."


def test_public_access_is_prevented(http):
    http.patch(B, json={"iamConfiguration": {"publicAccessPrevention": "enforced"}})
    refused = [http.post(path, json=ALL) for path in LISTS.values()]
    refused.append(_uploaded(http, "new", predefinedAcl="publicRead"))

    assert {answer.status_code for answer in refused} == {412}


@pytest.mark.parametrize(("path", "reading", "writing"), [
    (LISTS["bucket"], "Cannot get legacy ACL for a bucket that has uniform bucket-level access.",
     "Cannot use ACL API to update bucket policy when uniform bucket-level access is enabled."),
    (LISTS["default"], "Cannot get legacy ACL for a bucket that has uniform bucket-level access.",
     "Cannot use ACL API to update bucket policy when uniform bucket-level access is enabled."),
    (LISTS["object"], "Cannot get legacy ACL for an object when uniform bucket-level access is enabled.",
     "Cannot update access control for an object when uniform bucket-level access is enabled."),
])  # fmt: skip
def test_uniform_access_has_no_lists(http, path, reading, writing):
    before = _entries(http, path)
    _set_uniform(http)
    reads = [http.get(path), http.get(f"{path}/allUsers")]
    writes = [http.post(path, json=ALL), http.patch(f"{path}/allUsers", json=ALL), http.delete(f"{path}/allUsers")]
    writes.append(http.patch(path.rpartition("/")[0], json={path.rpartition("/")[2]: [ALL]}))

    assert {answer.json()["error"]["message"] for answer in reads} == {f"{reading} {MORE}"}
    assert {answer.json()["error"]["message"] for answer in writes} == {f"{writing} {MORE}"}
    assert {answer.json()["error"]["errors"][0]["reason"] for answer in reads + writes} == {"invalid"}
    _set_uniform(http, enabled=False)
    assert _entries(http, path) == before


def test_uniform_access_refuses_lists_of_new_objects(http):
    _set_uniform(http)
    answer = _uploaded(http, "new", predefinedAcl="private")
    message = "Cannot insert legacy ACL for an object when uniform bucket-level access is enabled."

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, f"{message} {MORE}")
    assert {"acl", "owner"}.isdisjoint(http.get(OBJECT, params={"projection": "full"}).json())
    assert {"acl", "owner"}.isdisjoint(http.get(B, params={"projection": "full"}).json())


def test_googles_client_changes_lists(cloud):
    bucket = storage_client(cloud).bucket(BUCKET)
    blob = bucket.blob("notes")
    blob.acl.user("ann@example.com").grant_read()
    blob.acl.save()
    bucket.default_object_acl.all().grant_read()
    bucket.default_object_acl.save()
    blob.make_public()
    bucket.acl.save_predefined("private")

    again = storage_client(cloud).bucket(BUCKET)
    entries = {entry["entity"]: entry["role"] for entry in again.blob("notes").acl}
    assert (entries["user-ann@example.com"], entries["allUsers"]) == ("READER", "READER")
    assert {entry["entity"] for entry in again.default_object_acl} >= {"allUsers"}
    assert [entry["role"] for entry in again.acl] == ["OWNER"]
    again.iam_configuration.uniform_bucket_level_access_enabled = True
    again.patch()
    with pytest.raises(exceptions.BadRequest, match="uniform bucket-level access"):
        blob.make_private()
