"""Service accounts, with the API client that programs use for them."""

from __future__ import annotations

import pytest
from googleapiclient.errors import HttpError
from values.programs import PROJECT

PARENT = f"projects/{PROJECT}"
EMAIL = f"builder@{PROJECT}.iam.gserviceaccount.com"
NEW = {"accountId": "builder", "serviceAccount": {"displayName": "Builder", "description": "Builds images"}}


@pytest.fixture
def accounts(client):
    return client("iam.v1").projects().serviceAccounts()


def _status(request):
    with pytest.raises(HttpError) as refused:
        request.execute()
    return refused.value.status_code


def test_the_life_of_an_account(accounts):
    made = accounts.create(name=PARENT, body=NEW).execute()
    name = f"{PARENT}/serviceAccounts/{EMAIL}"

    assert (made["name"], made["email"], made["projectId"]) == (name, EMAIL, PROJECT)
    assert made.items() >= NEW["serviceAccount"].items()
    for path in (name, f"{PARENT}/serviceAccounts/{made['uniqueId']}", f"projects/-/serviceAccounts/{EMAIL}"):
        assert accounts.get(name=path).execute() == made
    assert accounts.list(name=PARENT).execute()["accounts"][-1] == made
    assert _status(accounts.create(name=PARENT, body=NEW)) == 409
    accounts.delete(name=name).execute()
    assert _status(accounts.get(name=name)) == 404
    assert accounts.create(name=PARENT, body=NEW).execute()["uniqueId"] != made["uniqueId"]


def test_an_account_that_does_not_exist(accounts):
    assert _status(accounts.get(name=f"{PARENT}/serviceAccounts/{EMAIL}")) == 404
    assert _status(accounts.get(name=f"projects/-/serviceAccounts/{EMAIL}")) == 403
    assert _status(accounts.delete(name=f"{PARENT}/serviceAccounts/{EMAIL}")) == 404


def test_accounts_are_listed_in_pages(http):
    for number in range(3):
        http.post(f"/v1/{PARENT}/serviceAccounts", json={"accountId": f"builder-{number}"})
    first = http.get(f"/v1/{PARENT}/serviceAccounts", params={"pageSize": 3}).json()
    last = http.get(f"/v1/{PARENT}/serviceAccounts", params={"pageSize": 3, "pageToken": first["nextPageToken"]}).json()

    assert (len(first["accounts"]), len(last["accounts"]), "nextPageToken" in last) == (3, 1, False)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"accountId": "short"},
        {"accountId": "1-builder"},
        {"accountId": "b" * 31},
        {"accountId": "builder", "serviceAccount": {"displayName": "x" * 101}},
        {"accountId": "builder", "serviceAccount": {"description": "x" * 257}},
    ],
)
def test_an_account_must_have_a_name(http, body):
    assert http.post(f"/v1/{PARENT}/serviceAccounts", json=body).status_code == 400


def test_the_account_of_the_instances_stays(http):
    (account,) = http.get(f"/v1/{PARENT}/serviceAccounts").json()["accounts"]

    assert http.get(f"/v1/{account['name']}").json() == account
    assert http.delete(f"/v1/{account['name']}").status_code == 501
