"""Projects and their IAM policies, with the API client that programs use for them."""

from __future__ import annotations

import pytest
from googleapiclient.errors import HttpError
from values.programs import PROJECT

OWNER = {"role": "roles/owner", "members": ["user:operator@example.com"]}
VIEWER = {"role": "roles/viewer", "members": ["serviceAccount:ci@demo-project.iam.gserviceaccount.com"]}
CONDITIONAL = VIEWER | {
    "condition": {"title": "for now", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}
}
POLICY = f"/v1/projects/{PROJECT}"


@pytest.fixture
def projects(client):
    return client("cloudresourcemanager.v1").projects()


def test_every_project_exists(projects, client):
    project = projects.get(projectId=PROJECT).execute()
    accounts = client("iam.v1").projects().serviceAccounts().list(name=f"projects/{PROJECT}").execute()["accounts"]

    assert (project["projectId"], project["lifecycleState"]) == (PROJECT, "ACTIVE")
    assert accounts[0]["email"] == f"{project['projectNumber']}-compute@developer.gserviceaccount.com"


def test_a_policy_is_read_changed_and_written(projects):
    policy = projects.getIamPolicy(resource=PROJECT, body={}).execute()
    assert (policy["bindings"], policy["version"]) == ([OWNER], 1)
    policy["bindings"].append(VIEWER)
    written = projects.setIamPolicy(resource=PROJECT, body={"policy": policy}).execute()

    assert written == projects.getIamPolicy(resource=PROJECT).execute()
    assert written["bindings"] == [OWNER, VIEWER]
    with pytest.raises(HttpError) as refused:
        projects.setIamPolicy(resource=PROJECT, body={"policy": policy}).execute()
    assert refused.value.status_code == 409
    assert projects.getIamPolicy(resource="other-project").execute()["bindings"] == [OWNER]


def test_conditions_need_version_3(http):
    policy = {"bindings": [OWNER, CONDITIONAL], "version": 1}
    old = http.post(f"{POLICY}:setIamPolicy", json={"policy": policy})
    new = http.post(f"{POLICY}:setIamPolicy", json={"policy": policy | {"version": 3}})
    unaware = http.post(f"{POLICY}:getIamPolicy", json={"options": {"requestedPolicyVersion": 1}})
    aware = http.post(f"{POLICY}:getIamPolicy", json={"options": {"requestedPolicyVersion": 3}})

    assert (old.status_code, new.status_code, unaware.status_code) == (400, 200, 400)
    assert aware.json() == new.json()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"policy": {"bindings": [OWNER | {"members": ["allUsers"]}]}}, 400),
        ({"policy": {"auditConfigs": [{"service": "allServices"}]}, "updateMask": "bindings,auditConfigs"}, 501),
        ({"policy": {"bindings": [VIEWER]}, "updateMask": "etag"}, 501),
        ({"policy": {"bindings": [VIEWER]}, "updateMask": "bindings,etag,auditConfigs"}, 200),
        ({"policy": {"bindings": [VIEWER], "auditConfigs": [{"service": "allServices"}]}}, 200),
    ],
)
def test_what_a_policy_may_have(http, body, status):
    answer = http.post(f"{POLICY}:setIamPolicy", json=body)

    assert answer.status_code == status
    assert "auditConfigs" not in http.post(f"{POLICY}:getIamPolicy", json={}).json()


def test_permissions_are_tested(http):
    binding = {"permission": "resourcemanager.projects.get", "members": ["ci@example.com"]}
    wanted = {"permissions": ["resourcemanager.projects.get", "resourcemanager.projects.setIamPolicy"]}
    before = http.post(f"{POLICY}:testIamPermissions", json=wanted).json()
    http.post("/_emulator/policy", json={"bindings": [binding]})
    after = http.post(f"{POLICY}:testIamPermissions", json=wanted).json()

    assert (before, after) == (wanted, {"permissions": ["resourcemanager.projects.setIamPolicy"]})
    assert http.get(f"/v1/projects/{PROJECT}").status_code == 403


def test_projects_are_not_listed(http):
    assert http.get("/v1/projects").status_code == 501
