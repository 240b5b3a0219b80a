"""Who may do what: by permission, by resource and by the account in the access token."""

from __future__ import annotations

import re

import pytest
from google.api_core import exceptions
from google.oauth2.credentials import Credentials
from google.protobuf import field_mask_pb2
from google.pubsub_v1 import SubscriberClient, types
from servers.google_clients import connect
from values.programs import BUCKET, PROJECT

REGION = "us-east1"
ACT_AS = "iam.serviceAccounts.actAs"
OPERATOR, STRANGER = "operator@example.com", "stranger@example.com"
PUSHER, OTHER = "pusher@demo-project.iam.gserviceaccount.com", "other@demo-project.iam.gserviceaccount.com"
TOPIC = f"projects/{PROJECT}/topics/uploads"
NAME = f"projects/{PROJECT}/subscriptions/worker"
COMPUTE = f"/compute/beta/projects/{PROJECT}"


def _set_policy(http, *bindings):
    http.post("/_emulator/policy", json={"bindings": bindings}).raise_for_status()


def _only(permission, *members, **more):
    return {"permission": permission, "members": members, **more}


def _token(http, email):
    return http.post("/_emulator/tokens", json={"email": email}).json()["token"]


def _as(http, email):
    return {"Authorization": f"Bearer {_token(http, email)}"}


def _push(account):
    oidc = types.PushConfig.OidcToken(service_account_email=account)
    return types.PushConfig(push_endpoint="https://example.com/push", oidc_token=oidc)


@pytest.fixture
def subscriber(cloud, http):
    """Return the client of an account, once only the operator may act as the pusher."""
    _set_policy(http, _only(ACT_AS, OPERATOR, resources=[PUSHER]))
    return lambda email: connect(SubscriberClient, cloud, Credentials(_token(http, email)))


def _create(client, account):
    return client.create_subscription(request={"name": NAME, "topic": TOPIC, "push_config": _push(account)})


def test_a_caller_that_cannot_act_as_the_account_cannot_create_a_subscription(cloud, subscriber):
    for email, account in ((STRANGER, PUSHER), (OPERATOR, OTHER)):
        with pytest.raises(exceptions.Forbidden, match=rf"{ACT_AS}.*{account}"):
            _create(subscriber(email), account)
        assert cloud.get(NAME) is None
    assert _create(subscriber(OPERATOR), PUSHER).name == NAME


def test_a_caller_that_cannot_act_as_the_account_cannot_set_it_later(cloud, subscriber):
    stranger = subscriber(STRANGER)
    stranger.create_subscription(request={"name": NAME, "topic": TOPIC})
    made = stranger.get_subscription(subscription=NAME)
    wanted = types.Subscription(name=NAME, push_config=_push(PUSHER), ack_deadline_seconds=20)

    with pytest.raises(exceptions.Forbidden, match=ACT_AS):
        stranger.modify_push_config(subscription=NAME, push_config=_push(PUSHER))
    for path in ("push_config", "push_config.oidc_token"):
        with pytest.raises(exceptions.Forbidden, match=ACT_AS):
            stranger.update_subscription(subscription=wanted, update_mask=field_mask_pb2.FieldMask(paths=[path]))
    assert stranger.get_subscription(subscription=NAME) == made
    deadline = field_mask_pb2.FieldMask(paths=["ack_deadline_seconds"])
    assert stranger.update_subscription(subscription=wanted, update_mask=deadline).ack_deadline_seconds == 20
    subscriber(OPERATOR).modify_push_config(subscription=NAME, push_config=_push(PUSHER))
    stranger.modify_push_config(subscription=NAME, push_config=types.PushConfig())


def test_the_refusal_has_googles_format(http):
    _set_policy(http, _only("compute.regions.list"))
    answer = http.get(f"{COMPUTE}/regions", headers=_as(http, OPERATOR))
    message = f"Required 'compute.regions.list' permission for 'projects/{PROJECT}'"

    assert answer.status_code == 403
    assert answer.json()["error"] == {
        "code": 403, "message": message,
        "errors": [{"domain": "global", "reason": "forbidden", "message": message}],
    }  # fmt: skip


INTERFACE = {"network": "global/networks/default", "accessConfigs": [{"natIP": "203.0.113.1"}]}
SUBNETWORK = {"subnetwork": f"regions/{REGION}/subnetworks/default"}
PROPERTIES = {"machineType": "e2-small", "networkInterfaces": [INTERFACE], "tags": {"items": ["web"]}}
FLEET = {"count": "1", "namePattern": "web-#", "sourceInstanceTemplate": "global/instanceTemplates/web"}
BULK = ("POST", f"{COMPUTE}/regions/{REGION}/instances/bulkInsert")
INSERT = ("POST", f"/compute/v1/projects/{PROJECT}/regions/{REGION}/instanceTemplates")
ATTACH = ("POST", f"{COMPUTE}/zones/{REGION}-b/instances/vm/attachDisk")
CALLS = [
    ("compute.instanceTemplates.list", f"projects/{PROJECT}", "GET", f"/compute/v1/projects/{PROJECT}/aggregated/instanceTemplates", None),
    ("compute.instanceTemplates.list", f"projects/{PROJECT}", "GET", f"{COMPUTE}/global/instanceTemplates", None),
    ("compute.instanceTemplates.list", f"projects/{PROJECT}", "GET", f"{COMPUTE}/regions/{REGION}/instanceTemplates", None),
    ("compute.regions.list", f"projects/{PROJECT}", "GET", f"{COMPUTE}/regions", None),
    *((name, f"projects/{PROJECT}", *BULK, {**FLEET, "instanceProperties": {**PROPERTIES, "resourcePolicies": ["daily"]}}) for name in (
        "compute.disks.create", "compute.instances.create", "compute.instances.pscInterfaceCreate",
        "compute.instances.setTags", "compute.addresses.use", "compute.resourcePolicies.use")),
    ("compute.instanceTemplates.useReadOnly", f"projects/{PROJECT}/global/instanceTemplates/web", *BULK, FLEET),
    *((f"compute.networks.{verb}", f"projects/{PROJECT}/global/networks/default", *BULK, {**FLEET, "instanceProperties": PROPERTIES})
      for verb in ("use", "useExternalIp")),
    *((f"compute.subnetworks.{verb}", f"projects/{PROJECT}/{SUBNETWORK['subnetwork']}", *BULK, {**FLEET, "instanceProperties": {"networkInterfaces": [SUBNETWORK]}})
      for verb in ("use", "useExternalIp")),
    ("compute.instanceTemplates.create", f"projects/{PROJECT}", *INSERT, {"name": "web", "properties": PROPERTIES}),
    ("compute.networks.get", f"projects/{PROJECT}/global/networks/default", *INSERT, {"name": "web", "properties": PROPERTIES}),
    ("compute.subnetworks.get", f"projects/{PROJECT}/{SUBNETWORK['subnetwork']}", *INSERT, {"name": "web", "properties": {"networkInterfaces": [SUBNETWORK]}}),
    *((f"compute.disks.{verb}", f"projects/{PROJECT}/zones/{REGION}-b/disks/data", *ATTACH, {"source": f"zones/{REGION}-b/disks/data"})
      for verb in ("use", "useReadOnly")),
    *((name, "projects/debian-cloud/global/images/family/debian-12", *ATTACH, {"initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}})
      for name in ("compute.disks.create", "compute.images.useReadOnly")),
    ("storage.buckets.update", f"b/{BUCKET}", "DELETE", f"/storage/v1/b/{BUCKET}/notificationConfigs/1", None),
    ("resourcemanager.projects.get", f"projects/{PROJECT}", "GET", f"/v1/projects/{PROJECT}", None),
    *((f"resourcemanager.projects.{verb}", f"projects/{PROJECT}", "POST", f"/v1/projects/{PROJECT}:{verb}", {}) for verb in ("getIamPolicy", "setIamPolicy")),
    ("iam.serviceAccounts.list", f"projects/{PROJECT}", "GET", f"/v1/projects/{PROJECT}/serviceAccounts", None),
    ("iam.serviceAccounts.create", f"projects/{PROJECT}", "POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "builder"}),
    *((f"iam.serviceAccounts.{verb.lower()}", f"projects/{PROJECT}", verb, f"/v1/projects/{PROJECT}/serviceAccounts/{PUSHER}", None) for verb in ("GET", "DELETE")),
    ("iam.serviceAccounts.getOpenIdToken", PUSHER, "POST", f"/v1/projects/-/serviceAccounts/{PUSHER}:generateIdToken", {"audience": "me"}),
]  # fmt: skip


@pytest.mark.parametrize(("permission", "resource", "method", "path", "body"), CALLS)
def test_a_call_needs_what_the_documentation_says(http, permission, resource, method, path, body):
    def refused(headers):
        answer = http.request(method, path, json=body, headers=headers)
        return answer.status_code == 403 and permission in answer.json()["error"]["message"]

    operator, stranger = _as(http, OPERATOR), _as(http, STRANGER)
    assert not refused(stranger), "without a policy everyone may do everything"
    _set_policy(http, _only(permission, OPERATOR, resources=[resource]))
    assert [refused(headers) for headers in (operator, stranger, {}, {"Authorization": "Bearer x"})] == [
        False,
        True,
        True,
        True,
    ]
    _set_policy(http, _only(permission, "*"))
    assert [refused(headers) for headers in (operator, {})] == [False, False]
    _set_policy(http, _only(permission, OPERATOR, resources=["another"]))
    assert refused(operator)


def test_any_one_of_the_permissions_named_is_enough(http):
    _set_policy(http, _only("compute.disks.create", STRANGER), _only("compute.instances.create", OPERATOR))
    refused = [http.request(*BULK, json=FLEET, headers=_as(http, email)).status_code == 403
               for email in (STRANGER, OPERATOR, "third@example.com")]  # fmt: skip

    assert refused == [False, False, True]


def test_a_refused_call_changes_nothing_and_is_reported_first(http):
    path = f"/storage/v1/b/{BUCKET}/notificationConfigs"
    made = http.post(path, json={"topic": f"//pubsub.googleapis.com/{TOPIC}", "payload_format": "NONE"}).json()
    _set_policy(http, _only("storage.buckets.update"))
    assert http.delete(f"{path}/{made['id']}").status_code == 403
    assert http.delete(f"{path}/none").status_code == 403
    _set_policy(http)
    assert http.delete(f"{path}/{made['id']}").status_code == 204


@pytest.mark.parametrize(("policy", "words"), [
    (b"{", "must be JSON"), (b"[]", "A policy is"), (b"{}", "A policy is"), (b'{"bindings": {}}', "A policy is"),
    (b'{"bindings": [], "more": 1}', "A policy is"), (b'{"bindings": [1]}', r"bindings\[0\] must be an object"),
    (b'{"bindings": [{"permission": "iam.serviceAccounts.actas", "members": []}]}', r"bindings\[0\].permission must be one of .*actAs"),
    (b'{"bindings": [{"permission": ["x"], "members": []}]}', "permission must be one of"),
    (b'{"bindings": [{"members": []}]}', "permission must be one of"),
    (b'{"bindings": [{"permission": "compute.regions.list"}]}', "members must be a list"),
    (b'{"bindings": [{"permission": "compute.regions.list", "members": "a@example.com"}]}', "members must be a list"),
    (b'{"bindings": [{"permission": "compute.regions.list", "members": [1]}]}', "members must be a list"),
    (b'{"bindings": [{"permission": "compute.regions.list", "members": [], "resources": null}]}', "resources must be a list"),
    (b'{"bindings": [{"permission": "compute.regions.list", "members": [], "role": "x"}]}', "must be an object with"),
])  # fmt: skip
def test_an_invalid_policy_is_refused_and_the_last_one_stays(http, policy, words):
    _set_policy(http, _only("compute.regions.list", OPERATOR))
    answer = http.post("/_emulator/policy", content=policy)

    assert answer.status_code == 400
    assert re.search(words, answer.json()["error"]["message"])
    assert http.get("/_emulator/policy").json()["bindings"] == [
        _only("compute.regions.list", OPERATOR) | {"members": [OPERATOR]}
    ]


def test_a_reset_lets_everyone_do_everything(http):
    _set_policy(http, _only("compute.regions.list"))
    assert "policy" not in http.get("/").text
    http.post("/_emulator/reset")

    assert http.get("/_emulator/policy").json() == {"bindings": []}
    assert http.get(f"{COMPUTE}/regions").status_code == 200
