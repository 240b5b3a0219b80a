"""Errors about permissions name the permission, the resource and the account.

Holds settings.md: "An error about a missing permission"; "An error about an API".
"""

from __future__ import annotations

import json
import re

import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template

from gcpx.gcp.errors import from_response
from gcpx.gcp.permissions import explain_denial, needed
from gcpx.gcp.request import COMPUTE, OSLOGIN, PUBSUB, STORAGE, Request

PLACE = f"projects/{PROJECT}"
ROBOT = "robot@demo-project.iam.gserviceaccount.com"
NEEDED = [
    (COMPUTE, "GET", f"v1/{PLACE}", "compute.projects.get", PLACE),
    (COMPUTE, "GET", f"v1/{PLACE}/zones/a", "compute.zones.get", PLACE),
    (COMPUTE, "GET", f"v1/{PLACE}/aggregated/instances", "compute.instances.list", PLACE),
    (COMPUTE, "POST", f"beta/{PLACE}/global/machineImages", "compute.machineImages.create", PLACE),
    (COMPUTE, "POST", f"beta/{PLACE}/zones/a/instances/i/stop", "compute.instances.stop", f"{PLACE}/zones/a/instances/i"),
    (COMPUTE, "POST", f"v1/{PLACE}/zones/a/operations/o/wait", "compute.zoneOperations.get", PLACE),
    (STORAGE, "GET", "v1/b", "storage.buckets.list", "the project"),
    (STORAGE, "POST", "v1/b/x/notificationConfigs", "storage.buckets.update", "b/x"),
    (PUBSUB, "GET", f"v1/{PLACE}/topics/t", "pubsub.topics.get", f"{PLACE}/topics/t"),
]  # fmt: skip
"""Calls of each form; `tests/provider/test_verb_permissions.py` tries all methods, but not the resources."""
DISABLED = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "SERVICE_DISABLED",
    "domain": "googleapis.com",
    "metadata": {"service": "compute.googleapis.com", "consumer": "projects/123456789012"},
}
ACTIVATION = {
    "@type": "type.googleapis.com/google.rpc.Help",
    "links": [
        {
            "description": "Google developers console API activation",
            "url": "https://console.developers.google.com/apis/api/compute.googleapis.com/overview?project=123456789123",
        }
    ],
}
NARROW = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
    "domain": "googleapis.com",
    "metadata": {"service": "compute.googleapis.com"},
}
READ = Request(api=COMPUTE, method="GET", path=f"v1/{PLACE}/global/instanceTemplates/t")


def _denied(message="Forbidden", reason="forbidden", details=()):
    error = {"code": 403, "message": message, "errors": [{"reason": reason}], "details": list(details)}
    return from_response(READ.description, 403, {"error": error})


@pytest.mark.parametrize(("api", "method", "path", "permission", "resource"), NEEDED, ids=lambda item: str(item)[-40:])
def test_the_permission_of_each_call_is_known(api, method, path, permission, resource):
    (first, *_), on = needed(Request(api=api, method=method, path=path))

    assert (first, on) == (permission, resource)


def test_all_permissions_are_named_that_a_call_may_need():
    attach = Request(api=COMPUTE, method="POST", path=f"beta/{PLACE}/zones/a/instances/i/attachDisk")
    said = str(explain_denial(_denied(), attach, ROBOT))

    assert f"the permission compute.instances.attachDisk on {PLACE}/zones/a/instances/i, and perhaps" in said
    assert "compute.disks.use, compute.disks.useReadOnly. The caller is" in said


def test_no_permission_is_claimed_for_keys_of_another_account():
    assert needed(Request(api=OSLOGIN, method="GET", path="v1alpha/users/u/sshPublicKeys/f")) is None


@pytest.mark.parametrize("words", [
    "Required 'compute.instanceTemplates.get' permission for 'x'",
    "Permission 'cloudkms.cryptoKeys.get' denied on resource (or it may not exist).",
    "robot@demo-project.iam.gserviceaccount.com does not have artifactregistry.tags.get access to eu.gcr.io/x.",
])  # fmt: skip
def test_only_the_permission_is_named_that_google_names(words):
    said = str(explain_denial(_denied(words), READ, ROBOT))

    assert "The call needs" not in said
    assert "Grant the named permission" in said
    assert said.count(ROBOT) == 1


@pytest.mark.parametrize(
    "words", [f"{ROBOT} may not read compute.googleapis.com/Template", "see eu.gcr.io/x", "v1.2.3"]
)
def test_a_name_of_a_host_is_no_permission(words):
    assert "The call needs the permission compute.instanceTemplates.get on" in str(
        explain_denial(_denied(words), READ, ROBOT)
    )


def test_a_permission_in_the_details_counts_before_the_table():
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "metadata": {"permission": "a.b.c", "resource": "r"}}
    said = str(explain_denial(_denied(details=[info]), READ, ROBOT))

    assert "the permission a.b.c on r" in said


def test_another_reason_than_permissions_gets_no_permission():
    assert "the permission" not in str(explain_denial(_denied(reason="SECURITY_POLICY_VIOLATED"), READ, ROBOT))


def _refused(engine, cloud, *, reasons=(), details=()):
    """Create a template that Google refuses with 403 and these reasons and details; return the plugin's message."""
    error = {"code": 403, "message": "refused", "status": "PERMISSION_DENIED", "details": list(details)}
    errors = [{"domain": "usageLimits", "reason": reason, "message": "refused"} for reason in reasons]
    cloud.fail("compute.instanceTemplates.insert", status=403, body=json.dumps({"error": {**error, "errors": errors}}))
    with failing() as failed:
        engine.create(TEMPLATE, "web", template())
    assert failed[0].code == grpc.StatusCode.PERMISSION_DENIED
    return failed[0].message


@pytest.mark.parametrize(
    ("reasons", "details", "command"),
    [
        (["accessNotConfigured"], [], f"compute.googleapis.com --project={PROJECT}"),
        ([], [DISABLED], "compute.googleapis.com --project=123456789012"),
        (["forbidden"], [DISABLED], "compute.googleapis.com --project=123456789012"),
        ([], [ACTIVATION], "compute.googleapis.com --project=123456789123"),
        (["accessNotConfigured"], [ACTIVATION], "compute.googleapis.com --project=123456789123"),
    ],
    ids=["reason", "details", "details beside another reason", "link", "reason and link"],
)
def test_an_api_that_is_not_enabled_comes_with_the_command_that_enables_it(engine, cloud, reasons, details, command):
    said = _refused(engine, cloud, reasons=reasons, details=details)

    assert f"`gcloud services enable {command}`" in said
    assert "permission" not in said.replace("insufficientPermissions", "")


@pytest.mark.parametrize(
    ("reasons", "details"),
    [(["insufficientPermissions"], []), ([], [NARROW]), (["forbidden"], [NARROW])],
    ids=["reason", "details", "details beside another reason"],
)
def test_a_token_with_too_narrow_scopes_comes_with_the_scope_and_how_to_get_it(engine, cloud, reasons, details):
    said = _refused(engine, cloud, reasons=reasons, details=details)

    assert f"needs the OAuth scope {COMPUTE.scope}" in said
    assert "gcpx:scopes" in said
    assert "`gcloud auth application-default login --scopes=" in said
    assert "permission" not in said.replace("insufficientPermissions", "")


def test_a_fleet_refused_for_the_scopes_of_the_token_says_so_and_asks_for_no_permission(engine, cloud):
    cloud.fail("compute.regionInstances.bulkInsert", status=403, reason="insufficientPermissions", message="refused")
    with failing() as failed:
        engine.create(FLEET, "workers", fleet())

    assert f"needs the OAuth scope {COMPUTE.scope}" in failed[0].message
    assert "permission" not in failed[0].message.replace("insufficientPermissions", "")


def test_an_unknown_account_comes_with_how_to_find_it(cloud):
    base = f"http://{cloud.host}"
    cloud.fail("compute.instanceTemplates.insert", status=403, message="Forbidden")
    config = {"project": PROJECT, "computeCustomEndpoint": base, "accessToken": "t"}
    with driver.engine(ClockedProvider(), **config) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert f"the permission compute.instanceTemplates.create on {PLACE}" in failed[0].message
    assert "gcloud auth list" in failed[0].message
    assert json.dumps(config["accessToken"]) not in failed[0].message


def test_the_forms_of_calls_are_compiled_once(monkeypatch):
    first = needed(READ)

    def compiled(*_):
        raise AssertionError("a form was compiled again")

    with monkeypatch.context() as patched:
        patched.setattr(re, "_compile", compiled)
        again = needed(READ)

    assert again == first
