"""Functions, through the plugin against the emulator."""

from __future__ import annotations

import driver
import httpx
import pytest
from driver import failing
from programs import FLEET as FLEET_TOKEN
from programs import PROJECT, TEMPLATE, ZONE, fleet, template
from steered import HANGS

INSTANCES = "gcpx:compute:aggregatedListInstances"
TEMPLATES = "gcpx:compute:listInstanceTemplates"
ALL_TEMPLATES = "gcpx:compute:aggregatedListInstanceTemplates"
REGIONS = "gcpx:compute:listRegions"
OPERATION = "gcpx:compute:getOperation"
LISTS = {INSTANCES: "compute.instances.aggregatedList", TEMPLATES: "compute.instanceTemplates.list",
         ALL_TEMPLATES: "compute.instanceTemplates.aggregatedList", REGIONS: "compute.regions.list"}  # fmt: skip


def _post(cloud, path, body):
    return httpx.post(f"http://{cloud.host}{path}", json=body, trust_env=False, timeout=HANGS).json()


def _templates(engine, *names, **more):
    for name in names:
        engine.create(TEMPLATE, name, {"name": name, **template(), **more})


@pytest.mark.parametrize(("token", "path", "version"), [
    (ALL_TEMPLATES, f"/compute/v1/projects/{PROJECT}/aggregated/instanceTemplates", "v1"),
    (TEMPLATES, f"/compute/beta/projects/{PROJECT}/global/instanceTemplates", "beta"),
    (INSTANCES, f"/compute/beta/projects/{PROJECT}/aggregated/instances", "beta"),
    (REGIONS, f"/compute/beta/projects/{PROJECT}/regions", "beta"),
])  # fmt: skip
def test_each_list_asks_the_documented_path(engine, cloud, token, path, version):
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


def test_every_page_is_read_unless_one_is_asked_for(engine, cloud):
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


def test_instances_keep_their_scopes_over_pages(engine, cloud):
    engine.create(FLEET_TOKEN, "f", fleet(7, locationPolicy={"targetShape": "BALANCED"}))
    everything = engine.invoke(INSTANCES)["items"]
    page = engine.invoke(INSTANCES, maxResults=2)

    zones = {scope: len(found["instances"]) for scope, found in everything.items() if found["instances"]}
    assert zones == {"zones/us-east1-b": 3, "zones/us-east1-c": 2, "zones/us-east1-d": 2}
    assert [len(found["instances"]) for found in page["items"].values() if found["instances"]] == [2]
    assert [found["warnings"] for scope, found in everything.items() if scope in zones] == [[], [], []]
    assert everything["zones/us-central1-a"]["warnings"][0]["code"] == "NO_RESULTS_ON_PAGE"


def test_an_instance_is_shown_whole(engine, cloud, vm):
    found = engine.invoke(INSTANCES, filter='name = "example-vm"')["items"][f"zones/{ZONE}"]["instances"][0]

    assert found["machineType"].endswith("/machineTypes/e2-medium")
    assert (found["status"], found["disks"][0]["boot"], found["disks"][0]["diskSizeGb"]) == ("RUNNING", True, 10)
    assert found["id"].isdigit()
    assert found["zone"].endswith(ZONE)


def test_templates_of_every_scope(engine, cloud):
    _templates(engine, "a", "b")
    _templates(engine, "c", region="us-east1")
    found = engine.invoke(ALL_TEMPLATES)["items"]
    wide = engine.invoke(ALL_TEMPLATES, includeAllScopes=True)["items"]

    assert [item["name"] for item in found["global"]["instanceTemplates"]] == ["a", "b"]
    assert found["regions/us-east1"]["instanceTemplates"][0]["properties"]["machineType"] == "e2-small"
    assert f"zones/{ZONE}" in wide
    assert f"zones/{ZONE}" not in found


@pytest.mark.parametrize(("view", "shown"), [(None, False), ("BASIC", False), ("FULL", True)])
def test_the_view_decides_over_partner_metadata(engine, cloud, view, shown):
    entries = {"example.com": {"entries": {"k": "v"}}}
    engine.create(TEMPLATE, "web", {"properties": {**template()["properties"], "partnerMetadata": entries}})
    found = engine.invoke(TEMPLATES, **({"view": view} if view else {}))["items"][0]

    assert (found["properties"].get("partnerMetadata") == entries) == shown


@pytest.mark.parametrize(
    ("order", "names"),
    [(None, ["a", "b", "c"]), ("name", ["a", "b", "c"]), ("creationTimestamp desc", ["a", "c", "b"])],
)
def test_lists_are_ordered(engine, cloud, order, names):
    for name, day in (("b", 1), ("c", 2), ("a", 3)):
        path = f"projects/{PROJECT}/global/instanceTemplates/{name}"
        made = {"kind": "compute#instanceTemplate", "name": name, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"}
        cloud.emulator.store.put(path, made)
    first = engine.invoke(TEMPLATES, maxResults=2, **({"orderBy": order} if order else {}))
    second = engine.invoke(
        TEMPLATES, maxResults=2, pageToken=first["nextPageToken"], **({"orderBy": order} if order else {})
    )

    assert [item["name"] for item in (*first["items"], *second["items"])] == names


def test_only_the_fields_asked_for_are_read(engine, cloud):
    _templates(engine, "a")
    narrow = engine.invoke(ALL_TEMPLATES, itemFields=["properties/machineType"])["items"]["global"]
    link = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/instanceTemplates/a"

    assert narrow["instanceTemplates"] == [
        {"name": "a", "selfLink": link, "properties": {"machineType": "e2-small"}}
    ], "name and link are always there, so that their types need not be optional"


def test_regions_without_quotas(engine, cloud):
    whole, narrow = engine.invoke(REGIONS)["items"], engine.invoke(REGIONS, omitQuotas=True)["items"]

    assert {quota["metric"] for quota in whole[0]["quotas"]} >= {"CPUS", "INSTANCES"}
    assert "quotas" not in narrow[0]
    assert {key for key in whole[0] if key != "quotas"} == set(narrow[0])
    assert "quotas" not in cloud.requests(LISTS[REGIONS])[1]["query"]["fields"]


def test_quotas_that_cannot_be_told_are_named(engine, cloud):
    _post(cloud, "/_emulator/outages", {"quotas": ["us-east1"]})
    regions = {item["name"]: item for item in engine.invoke(REGIONS)["items"]}

    assert regions["us-east1"]["quotaStatusWarning"]["code"] == "QUOTA_INFO_UNAVAILABLE"
    assert "quotas" not in regions["us-east1"]
    assert regions["us-central1"]["quotas"]
    _post(cloud, "/_emulator/outages", {"quotas": ["us-east1"], "requireBasicQuota": True})
    answer = httpx.get(f"http://{cloud.host}/compute/beta/projects/{PROJECT}/regions", trust_env=False, timeout=HANGS)
    assert (answer.status_code, "requireBasicQuota" in answer.text) == (503, True)


@pytest.mark.parametrize(("token", "scope"), [(INSTANCES, f"zones/{ZONE}"), (ALL_TEMPLATES, "regions/us-east1")])
def test_a_scope_out_of_reach_is_surfaced_and_the_rest_is_there(engine, cloud, vm, token, scope):
    _templates(engine, "a")
    _post(cloud, "/_emulator/outages", {"scopes": [scope]})
    found = engine.invoke(token, returnPartialSuccess=True)

    assert found["unreachables"] == [scope]
    assert found["items"][scope]["warnings"][0]["code"] == "UNREACHABLE"
    assert len(found["items"]) > 3
    assert [text for _, _, text in engine.log.messages if "partial" in text] == [
        f"the result is partial: {scope} cannot be reached"
    ]


def test_without_leave_for_partial_success_the_call_fails(engine, cloud):
    cloud.fail(LISTS[INSTANCES], status=400, message="Scope 'zones/a' cannot be reached")
    with failing() as failures:
        engine.invoke(INSTANCES)

    assert "cannot be reached" in failures[0].message


@pytest.mark.parametrize(("filter_", "position"), [
    ("name ~ x", 6), ("name = ", 7), ("(name = a", 10), ("name = a)", 9), ("= a", 1), ("name like x", 6),
    ("name = a OR", 12), ("(name eq a) (zone = b)", 14), ("(name eq a) (zone eq b)", 14), ("name == a", 7),
    ("name eq a OR name eq b", 1), ("name eq a name eq b", 1), ("name eq 'a", 9), ("name", 5),
])  # fmt: skip
def test_a_malformed_filter_is_refused_before_the_call_with_its_position(engine, cloud, filter_, position):
    refused = engine.refusals(INSTANCES, filter=filter_)

    assert refused["filter"].startswith(f"is malformed at character {position}: ")
    assert cloud.calls() == []


def test_everything_wrong_is_said_at_once(engine, cloud):
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


def test_a_project_comes_from_somewhere(cloud, monkeypatch):
    for name in ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    with driver.engine(emulatorHost=cloud.host) as engine:
        assert engine.refusals(REGIONS)["project"].startswith("is required")
        assert engine.invoke(REGIONS, project="other")["items"]


def test_an_unknown_function_is_named(engine):
    with failing() as failures:
        engine.invoke("gcpx:compute:listEverything")

    assert "gcpx:compute:listRegions" in failures[0].message


def _operation(cloud, scope):
    return next(item for item in cloud.emulator.operations.list(PROJECT, scope))


@pytest.mark.parametrize(("scope", "where"), [
    ("global", {}), (f"zones/{ZONE}", {"zone": ZONE}), ("regions/us-east1", {"region": "us-east1"}),
])  # fmt: skip
def test_an_operation_is_read_wherever_it_is(engine, cloud, vm, scope, where):
    _templates(engine, "a")
    _templates(engine, "c", region="us-east1")
    wanted = _operation(cloud, scope)
    by_name = engine.invoke(OPERATION, name=wanted["name"], **where)

    assert by_name == engine.invoke(OPERATION, name=wanted["selfLink"])
    assert (by_name["status"], by_name["progress"], by_name["operationType"]) == ("DONE", 100, "insert")
    assert by_name["targetLink"] == wanted["targetLink"]


def test_an_operation_shows_what_went_wrong(engine, cloud):
    _post(cloud, "/_emulator/limits", {"instances": {"us-east1": 1}})
    with failing():
        engine.create(FLEET_TOKEN, "f", fleet(3))
    found = engine.invoke(OPERATION, name=_operation(cloud, "regions/us-east1")["name"], region="us-east1")
    error = found["error"]["errors"][0]

    assert error["code"] == "QUOTA_EXCEEDED"
    assert error["errorDetails"][0]["quotaInfo"]["limit"] == 1
    assert found["httpErrorStatusCode"] >= 400
    zone = found["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
    assert {status["targetVmCount"] for status in zone.values()} == {3}


def test_an_operation_that_is_none(engine, cloud):
    with failing() as failures:
        engine.invoke(OPERATION, name="operation-none")
    assert "was not found" in failures[0].message
    assert engine.refusals(OPERATION, name="a/b").keys() == {"name"}
    assert engine.refusals(OPERATION, name="a", zone="z", region="r").keys() == {"zone"}
    assert engine.refusals(OPERATION).keys() == {"name"}
