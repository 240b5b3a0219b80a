"""HMAC keys of service accounts, and the states that they can have."""

from __future__ import annotations

import re

import pytest
from google.api_core import exceptions
from servers.google_clients import storage_client
from values.programs import PROJECT

KEYS = f"/storage/v1/projects/{PROJECT}/hmacKeys"
ACCOUNT = f"backup@{PROJECT}.iam.gserviceaccount.com"


def _made(http, account=ACCOUNT):
    answer = http.post(KEYS, params={"serviceAccountEmail": account})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _refusal(answer):
    error = answer.json()["error"]
    return answer.status_code, error["message"], error["errors"][0]["reason"]


def test_a_secret_is_shown_once(http):
    made = _made(http)
    key = made["metadata"]

    assert made["kind"] == "storage#hmacKey"
    assert re.fullmatch(r"[A-Za-z0-9+/]{40}", made["secret"])
    assert re.fullmatch(r"GOOG1E[A-Z2-7]{55}", key["accessId"])
    assert (key["id"], key["state"]) == (f"{PROJECT}/{key['accessId']}", "ACTIVE")
    assert (key["projectId"], key["serviceAccountEmail"]) == (PROJECT, ACCOUNT)
    assert http.get(f"{KEYS}/{key['accessId']}").json() == key
    assert made["secret"] not in http.get("/_emulator/resources?kind=hmacKeys").text


def test_only_an_inactive_key_is_deleted_and_it_can_still_be_read(http):
    key = _made(http)["metadata"]
    path = f"{KEYS}/{key['accessId']}"
    active = http.delete(path)
    stopped = http.put(path, json={"state": "INACTIVE"}).json()
    assert http.delete(path).status_code == 204

    words = "Cannot delete keys in ACTIVE state.  Update state to 'INACTIVE' first."
    assert _refusal(active) == (400, words, "invalid")
    assert stopped["state"] == "INACTIVE"
    assert stopped["etag"] != key["etag"]
    assert http.get(path).json()["state"] == "DELETED"
    assert _refusal(http.delete(path)) == (400, "Key is already deleted.", "invalid")
    assert _refusal(http.put(path, json={"state": "ACTIVE"})) == (400, "Deleted keys cannot be updated.", "invalid")


@pytest.mark.parametrize(("body", "status", "message"), [
    ({"state": "ACTIVE"}, 400, "Update must modify the credential."),
    ({"state": "DELETED"}, 400, "Cannot set state to 'DELETED'."),
    ({"state": "other"}, 400, "Must specify resource.state."),
    ({}, 400, "Must specify resource.state."),
    ({"state": "INACTIVE", "etag": "stale"}, 412, "Cannot update keys. Etag does not match expected value."),
    ({"state": "INACTIVE", "accessId": "GOOG1EX"}, 400,
     "The accessId supplied in request body does not match the accessId in the URL."),
])  # fmt: skip
def test_a_change_that_cannot_be_is_refused(http, body, status, message):
    key = _made(http)["metadata"]
    path = f"{KEYS}/{key['accessId']}"

    assert _refusal(http.put(path, json=body))[:2] == (status, message)
    assert http.get(path).json() == key


def test_an_account_has_at_most_ten_keys(http):
    keys = [_made(http)["metadata"]["accessId"] for _ in range(10)]
    refused = http.post(KEYS, params={"serviceAccountEmail": ACCOUNT})
    http.put(f"{KEYS}/{keys[0]}", json={"state": "INACTIVE"})
    http.delete(f"{KEYS}/{keys[0]}")

    assert _refusal(refused) == (400, "Service account HMAC key limit reached", "invalid")
    assert _made(http)["metadata"]["state"] == "ACTIVE"


@pytest.mark.parametrize(("account", "status"), [
    ("nobody", 400), ("service-1@gs-project-accounts.iam.gserviceaccount.com", 403),
])  # fmt: skip
def test_an_account_that_cannot_have_keys_is_refused(http, account, status):
    assert http.post(KEYS, params={"serviceAccountEmail": account}).status_code == status
    assert http.post(KEYS).status_code == 400
    assert http.get(f"{KEYS}/missing").status_code == 404


def test_keys_are_listed_by_account_and_page_by_page(http):
    one, other = _made(http)["metadata"], _made(http, f"other@{PROJECT}.iam.gserviceaccount.com")["metadata"]
    first = http.get(KEYS, params={"maxResults": 1}).json()
    second = http.get(KEYS, params={"maxResults": 1, "pageToken": first["nextPageToken"]}).json()
    http.put(f"{KEYS}/{one['accessId']}", json={"state": "INACTIVE"})
    http.delete(f"{KEYS}/{one['accessId']}")

    found = [item["accessId"] for page in (first, second) for item in page["items"]]
    assert sorted(found) == sorted(key["accessId"] for key in (one, other))
    assert "nextPageToken" not in second
    assert [item["accessId"] for item in http.get(KEYS).json()["items"]] == [other["accessId"]]
    assert len(http.get(KEYS, params={"showDeletedKeys": "true"}).json()["items"]) == 2
    assert "items" not in http.get(KEYS, params={"serviceAccountEmail": ACCOUNT}).json()


def test_googles_client_creates_stops_and_deletes_a_key(cloud):
    client = storage_client(cloud)
    key, secret = client.create_hmac_key(service_account_email=ACCOUNT, project_id=PROJECT)
    with pytest.raises(exceptions.BadRequest, match="ACTIVE state"):
        key.delete()
    key.state = "INACTIVE"
    key.update()
    key.delete()

    assert len(secret) == 40
    assert list(client.list_hmac_keys(project_id=PROJECT)) == []
    assert [found.state for found in client.list_hmac_keys(project_id=PROJECT, show_deleted_keys=True)] == ["DELETED"]
