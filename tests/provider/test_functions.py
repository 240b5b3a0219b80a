"""Functions return the right results and errors, through the plugin and against the emulator."""

from __future__ import annotations

import json

import driver
import httpx
import pytest
from driver import failing, secret
from programs import FLEET as FLEET_TOKEN
from programs import PROJECT, TEMPLATE, ZONE, fleet, template
from steered import HANGS

INSTANCES = "gcpx:compute:aggregatedListInstances"
TEMPLATES = "gcpx:compute:listInstanceTemplates"
ALL_TEMPLATES = "gcpx:compute:aggregatedListInstanceTemplates"
REGIONS = "gcpx:compute:listRegions"
OPERATION = "gcpx:compute:getOperation"
INFO = "gcpx:oauth2:getTokenInfo"
VERIFY = "gcpx:pubsub:verifyPushToken"
LISTS = {INSTANCES: "compute.instances.aggregatedList", TEMPLATES: "compute.instanceTemplates.list",
         ALL_TEMPLATES: "compute.instanceTemplates.aggregatedList", REGIONS: "compute.regions.list"}  # fmt: skip
EMAIL = "pusher@example.com"


def _post(cloud, path, body):
    return httpx.post(f"http://{cloud.host}{path}", json=body, trust_env=False, timeout=HANGS).json()


def _create_templates(engine, *names, **more):
    for name in names:
        engine.create(TEMPLATE, name, {"name": name, **template(), **more})


@pytest.mark.parametrize(("token", "path", "version"), [
    (ALL_TEMPLATES, f"/compute/v1/projects/{PROJECT}/aggregated/instanceTemplates", "v1"),
    (TEMPLATES, f"/compute/beta/projects/{PROJECT}/global/instanceTemplates", "beta"),
    (INSTANCES, f"/compute/beta/projects/{PROJECT}/aggregated/instances", "beta"),
    (REGIONS, f"/compute/beta/projects/{PROJECT}/regions", "beta"),
])  # fmt: skip
def test_each_list_requests_the_documented_path(engine, cloud, token, path, version):
    engine.invoke(token)

    assert [entry["path"] for entry in cloud.requests(LISTS[token])] == [path]


@pytest.mark.parametrize("token", LISTS)
def test_every_parameter_of_a_list_is_sent(engine, cloud, token):
    given = {"filter": "name != x", "orderBy": "name", "maxResults": 7, "returnPartialSuccess": True}
    if "aggregated" in token:
        given |= {"includeAllScopes": True, "serviceProjectNumber": "123"}
    if token == TEMPLATES:
        given["view"] = "FULL"
    engine.invoke(token, **given)
    sent = cloud.requests(LISTS[token])[0]["query"]

    assert sent == {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()
    }


def test_all_pages_are_read_unless_one_is_requested(engine, cloud):
    for number in range(1203):
        path = f"projects/{PROJECT}/global/instanceTemplates/t{number:04}"
        cloud.emulator.store.put(path, {"kind": "compute#instanceTemplate", "name": f"t{number:04}", "selfLink": path})
    everything = engine.invoke(TEMPLATES)
    first = engine.invoke(TEMPLATES, maxResults=500)
    second = engine.invoke(TEMPLATES, maxResults=500, pageToken=first["nextPageToken"])
    rest = engine.invoke(TEMPLATES, pageToken=second["nextPageToken"])

    assert [len(found["items"]) for found in (everything, first, second, rest)] == [1203, 500, 500, 203]
    assert [item["name"] for part in (first, second, rest) for item in part["items"]] == [
        item["name"] for item in everything["items"]
    ]
    assert "nextPageToken" not in everything
    assert len(cloud.requests(LISTS[TEMPLATES])) == 3 + 1 + 1 + 1


def test_instances_keep_their_scopes_across_pages(engine, cloud):
    engine.create(FLEET_TOKEN, "f", fleet(7, locationPolicy={"targetShape": "BALANCED"}))
    everything = engine.invoke(INSTANCES)["items"]
    page = engine.invoke(INSTANCES, maxResults=2)

    zones = {scope: len(found["instances"]) for scope, found in everything.items() if found["instances"]}
    assert zones == {"zones/us-east1-b": 3, "zones/us-east1-c": 2, "zones/us-east1-d": 2}
    assert [len(found["instances"]) for found in page["items"].values() if found["instances"]] == [2]
    assert [found["warnings"] for scope, found in everything.items() if scope in zones] == [[], [], []]
    assert everything["zones/us-central1-a"]["warnings"][0]["code"] == "NO_RESULTS_ON_PAGE"


def test_a_listed_instance_has_all_its_fields(engine, cloud, vm):
    found = engine.invoke(INSTANCES, filter='name = "example-vm"')["items"][f"zones/{ZONE}"]["instances"][0]

    assert found["machineType"].endswith("/machineTypes/e2-medium")
    assert (found["status"], found["disks"][0]["boot"], found["disks"][0]["diskSizeGb"]) == ("RUNNING", True, 10)
    assert found["id"].isdigit()
    assert found["zone"].endswith(ZONE)


def test_templates_of_every_scope_are_listed(engine, cloud):
    _create_templates(engine, "a", "b")
    _create_templates(engine, "c", region="us-east1")
    found = engine.invoke(ALL_TEMPLATES)["items"]
    wide = engine.invoke(ALL_TEMPLATES, includeAllScopes=True)["items"]

    assert [item["name"] for item in found["global"]["instanceTemplates"]] == ["a", "b"]
    assert found["regions/us-east1"]["instanceTemplates"][0]["properties"]["machineType"] == "e2-small"
    assert f"zones/{ZONE}" in wide
    assert f"zones/{ZONE}" not in found


@pytest.mark.parametrize(("view", "shown"), [(None, False), ("BASIC", False), ("FULL", True)])
def test_only_the_full_view_includes_partner_metadata(engine, cloud, view, shown):
    entries = {"example.com": {"entries": {"k": "v"}}}
    engine.create(TEMPLATE, "web", {"properties": {**template()["properties"], "partnerMetadata": entries}})
    found = engine.invoke(TEMPLATES, **({"view": view} if view else {}))["items"][0]

    assert (found["properties"].get("partnerMetadata") == entries) == shown


@pytest.mark.parametrize(
    ("order", "names"),
    [(None, ["a", "b", "c"]), ("name", ["a", "b", "c"]), ("creationTimestamp desc", ["a", "c", "b"])],
)
def test_lists_have_the_requested_order(engine, cloud, order, names):
    for name, day in (("b", 1), ("c", 2), ("a", 3)):
        path = f"projects/{PROJECT}/global/instanceTemplates/{name}"
        made = {"kind": "compute#instanceTemplate", "name": name, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"}
        cloud.emulator.store.put(path, made)
    first = engine.invoke(TEMPLATES, maxResults=2, **({"orderBy": order} if order else {}))
    second = engine.invoke(
        TEMPLATES, maxResults=2, pageToken=first["nextPageToken"], **({"orderBy": order} if order else {})
    )

    assert [item["name"] for item in (*first["items"], *second["items"])] == names


def test_only_the_requested_fields_are_read(engine, cloud):
    _create_templates(engine, "a")
    narrow = engine.invoke(ALL_TEMPLATES, itemFields=["properties/machineType"])["items"]["global"]
    link = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/instanceTemplates/a"

    assert narrow["instanceTemplates"] == [
        {"name": "a", "selfLink": link, "properties": {"machineType": "e2-small"}}
    ], "name and link are always included, so that their types are not optional"


def test_quotas_of_regions_can_be_omitted(engine, cloud):
    whole, narrow = engine.invoke(REGIONS)["items"], engine.invoke(REGIONS, omitQuotas=True)["items"]

    assert {quota["metric"] for quota in whole[0]["quotas"]} >= {"CPUS", "INSTANCES"}
    assert "quotas" not in narrow[0]
    assert {key for key in whole[0] if key != "quotas"} == set(narrow[0])
    assert "quotas" not in cloud.requests(LISTS[REGIONS])[1]["query"]["fields"]


def test_a_region_without_available_quotas_has_a_warning(engine, cloud):
    _post(cloud, "/_emulator/outages", {"quotas": ["us-east1"]})
    regions = {item["name"]: item for item in engine.invoke(REGIONS)["items"]}

    assert regions["us-east1"]["quotaStatusWarning"]["code"] == "QUOTA_INFO_UNAVAILABLE"
    assert "quotas" not in regions["us-east1"]
    assert regions["us-central1"]["quotas"]
    _post(cloud, "/_emulator/outages", {"quotas": ["us-east1"], "requireBasicQuota": True})
    answer = httpx.get(f"http://{cloud.host}/compute/beta/projects/{PROJECT}/regions", trust_env=False, timeout=HANGS)
    assert (answer.status_code, "requireBasicQuota" in answer.text) == (503, True)


@pytest.mark.parametrize(("token", "scope"), [(INSTANCES, f"zones/{ZONE}"), (ALL_TEMPLATES, "regions/us-east1")])
def test_an_unreachable_scope_is_reported_and_the_rest_is_returned(engine, cloud, vm, token, scope):
    _create_templates(engine, "a")
    _post(cloud, "/_emulator/outages", {"scopes": [scope]})
    found = engine.invoke(token, returnPartialSuccess=True)

    assert found["unreachables"] == [scope]
    assert found["items"][scope]["warnings"][0]["code"] == "UNREACHABLE"
    assert len(found["items"]) > 3
    assert [text for _, _, text in engine.log.messages if "partial" in text] == [
        f"the result is partial: {scope} cannot be reached"
    ]


def test_an_unreachable_scope_is_an_error_without_partial_success(engine, cloud):
    cloud.fail(LISTS[INSTANCES], status=400, message="Scope 'zones/a' cannot be reached")
    with failing() as failures:
        engine.invoke(INSTANCES)

    assert "cannot be reached" in failures[0].message


@pytest.mark.parametrize(("filter_", "position"), [
    ("name ~ x", 6), ("name = ", 7), ("(name = a", 10), ("name = a)", 9), ("= a", 1), ("name like x", 6),
    ("name = a OR", 12), ("(name eq a) (zone = b)", 14), ("(name eq a) (zone eq b)", 14), ("name == a", 7),
    ("name eq a OR name eq b", 1), ("name eq a name eq b", 1), ("name eq 'a", 9), ("name", 5),
])  # fmt: skip
def test_a_malformed_filter_is_refused_with_the_position_of_the_error(engine, cloud, filter_, position):
    refused = engine.refusals(INSTANCES, filter=filter_)

    assert refused["filter"].startswith(f"is malformed at character {position}: ")
    assert cloud.calls() == []


def test_all_invalid_arguments_are_reported_at_once(engine, cloud):
    refused = engine.refusals(
        ALL_TEMPLATES,
        filter="a ~ b",
        orderBy="size desc",
        maxResults=501,
        serviceProjectNumber="x",
        includeAllScope=True,
        project="a/b",
    )

    assert set(refused) == {"filter", "orderBy", "maxResults", "serviceProjectNumber", "includeAllScope", "project"}
    assert "did you mean includeAllScopes?" in refused["includeAllScope"]
    assert engine.refusals(TEMPLATES, maxResults=-1).keys() == {"maxResults"}
    assert engine.refusals(TEMPLATES, view="BASICS").keys() == {"view"}
    assert engine.refusals(REGIONS, omitQuotas=True, itemFields=["name"]).keys() == {"omitQuotas"}
    assert cloud.calls() == []


def test_a_function_requires_a_project(cloud, monkeypatch):
    for name in ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    with driver.engine(emulatorHost=cloud.host) as engine:
        assert engine.refusals(REGIONS)["project"].startswith("is required")
        assert engine.invoke(REGIONS, project="other")["items"]


def test_an_unknown_function_is_refused_with_the_known_ones(engine):
    with failing() as failures:
        engine.invoke("gcpx:compute:listEverything")

    assert "gcpx:compute:listRegions" in failures[0].message


def _first_operation(cloud, scope):
    return next(item for item in cloud.emulator.operations.list(PROJECT, scope))


@pytest.mark.parametrize(("scope", "where"), [
    ("global", {}), (f"zones/{ZONE}", {"zone": ZONE}), ("regions/us-east1", {"region": "us-east1"}),
])  # fmt: skip
def test_an_operation_is_read_in_every_scope(engine, cloud, vm, scope, where):
    _create_templates(engine, "a")
    _create_templates(engine, "c", region="us-east1")
    wanted = _first_operation(cloud, scope)
    by_name = engine.invoke(OPERATION, name=wanted["name"], **where)

    assert by_name == engine.invoke(OPERATION, name=wanted["selfLink"])
    assert (by_name["status"], by_name["progress"], by_name["operationType"]) == ("DONE", 100, "insert")
    assert by_name["targetLink"] == wanted["targetLink"]


def test_a_failed_operation_shows_its_error(engine, cloud):
    _post(cloud, "/_emulator/limits", {"instances": {"us-east1": 1}})
    with failing():
        engine.create(FLEET_TOKEN, "f", fleet(3))
    found = engine.invoke(OPERATION, name=_first_operation(cloud, "regions/us-east1")["name"], region="us-east1")
    error = found["error"]["errors"][0]

    assert error["code"] == "QUOTA_EXCEEDED"
    assert error["errorDetails"][0]["quotaInfo"]["limit"] == 1
    assert found["httpErrorStatusCode"] >= 400
    zone = found["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
    assert {status["targetVmCount"] for status in zone.values()} == {3}


def test_an_operation_that_does_not_exist_is_an_error(engine, cloud):
    with failing() as failures:
        engine.invoke(OPERATION, name="operation-none")
    assert "was not found" in failures[0].message
    assert engine.refusals(OPERATION, name="a/b").keys() == {"name"}
    assert engine.refusals(OPERATION, name="a", zone="z", region="r").keys() == {"zone"}
    assert engine.refusals(OPERATION).keys() == {"name"}


def _token(cloud, **order):
    return _post(cloud, "/_emulator/tokens", {"email": EMAIL, "audience": "me", **order})["token"]


def test_a_token_is_inspected_and_never_shown(engine, cloud):
    token = _token(cloud)
    found = engine.invoke(INFO, idToken=secret(token))

    assert (found["email"], found["emailVerified"], found["alg"], found["aud"]) == (EMAIL, "true", "RS256", "me")
    assert set(found) == {"alg", "aud", "azp", "email", "emailVerified", "exp", "iat", "iss", "kid", "sub", "typ"}
    assert [entry["path"] for entry in cloud.requests("oauth2.tokeninfo")] == ["/tokeninfo"]
    assert token not in json.dumps(list(cloud.emulator.requests.kept))


@pytest.mark.parametrize("wrap", [secret, str])
def test_the_error_about_an_invalid_token_does_not_show_it(engine, cloud, wrap):
    token = _token(cloud)[:-3]
    cloud.fail("oauth2.tokeninfo", status=400, message=f"bad token {token}")
    with failing() as failures:
        engine.invoke(INFO, idToken=wrap(token))

    assert token not in failures[0].message
    assert "[secret]" in failures[0].message
    with failing() as failures:
        engine.invoke(INFO, idToken=wrap(token))
    assert "invalid_token" in failures[0].message


def test_tokens_are_inspected_without_sending_credentials(cloud):
    endpoint = f"http://{cloud.host}"
    with driver.engine(oauth2CustomEndpoint=endpoint, project=PROJECT, accessToken="ya29.not-to-be-sent") as engine:
        engine.invoke(INFO, idToken=_token(cloud))

    assert [entry["authorized"] for entry in cloud.requests("oauth2.tokeninfo")] == [False]


def _verdict(engine, cloud, **order):
    return engine.invoke(VERIFY, token=secret(_token(cloud, **order)), audience="me", serviceAccountEmail=EMAIL)


def test_a_push_token_is_verified(engine, cloud):
    good, bad = _verdict(engine, cloud), _verdict(engine, cloud, audience="you")

    assert good["valid"] is True
    assert good["claims"]["email"] == EMAIL
    assert good["claims"]["emailVerified"] is True
    assert bad == {"valid": False, "reason": "the token is for another audience"}
    assert cloud.calls("oauth2") == ["oauth2.certs"]


def test_a_push_token_is_verified_offline_with_given_certificates(engine, cloud):
    certificates = httpx.get(f"http://{cloud.host}/oauth2/v1/certs", trust_env=False, timeout=HANGS).json()
    token = _token(cloud)
    cloud.emulator.requests.kept.clear()
    given = {"token": secret(token), "audience": "me", "serviceAccountEmail": EMAIL}

    assert engine.invoke(VERIFY, **given, certificates=certificates)["valid"]
    assert cloud.calls() == []
    with failing() as failures:
        engine.invoke(VERIFY, **given, certificates={"a": "b"})
    assert "PEM" in failures[0].message


@pytest.mark.parametrize("claims", [
    {"iss": ["accounts.google.com"]}, {"exp": 10**400}, {"sub": 1}, {"azp": {}}, {"nbf": 1 << 39}, {"nbf": "0"},
])  # fmt: skip
def test_a_claim_of_the_wrong_type_makes_a_push_token_invalid(engine, cloud, claims):
    verdict = _verdict(engine, cloud, claims=claims)

    assert verdict["valid"] is False
    assert verdict["reason"]


@pytest.mark.parametrize("missing", ["audience", "serviceAccountEmail"])
def test_verifying_a_push_token_requires_an_audience_and_an_account(engine, cloud, missing):
    given = {"token": secret(_token(cloud)), "audience": "me", "serviceAccountEmail": EMAIL}
    with failing() as failures:
        engine.invoke(VERIFY, **(given | {missing: ""}))

    assert "must not be empty" in failures[0].message


def test_an_assertion_of_identity_aware_proxy_is_verified(engine, cloud):
    claims = {"iss": "https://cloud.google.com/iap"}
    given = {"token": secret(_token(cloud, iap=True, claims=claims)), "audience": "me", "serviceAccountEmail": EMAIL}

    assert engine.invoke(VERIFY, **given, identityAwareProxy=True)["valid"]
    assert not engine.invoke(VERIFY, **given)["valid"]


def test_keys_that_cannot_be_fetched_are_an_error(engine, cloud):
    cloud.fail("oauth2.certs", status=503)
    with failing() as failures:
        _verdict(engine, cloud)

    assert "give certificates" in failures[0].message
