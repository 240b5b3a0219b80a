"""The list functions of Compute: paths, parameters, pages, scopes, and wrong arguments."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import failing
from servers import plain_http
from values.programs import FLEET, PROJECT, TEMPLATE, ZONE, fleet, template

INSTANCES = "gcpx:compute:aggregatedListInstances"
TEMPLATES = "gcpx:compute:listInstanceTemplates"
ALL_TEMPLATES = "gcpx:compute:aggregatedListInstanceTemplates"
REGIONS = "gcpx:compute:listRegions"
METHODS = {INSTANCES: "compute.instances.aggregatedList", TEMPLATES: "compute.instanceTemplates.list",
           ALL_TEMPLATES: "compute.instanceTemplates.aggregatedList", REGIONS: "compute.regions.list"}  # fmt: skip
"""The list functions, with the API methods that they call."""


def _create_templates(engine, *names, **more):
    for name in names:
        engine.create(TEMPLATE, name, {"name": name, **template(), **more})


@pytest.mark.parametrize(("token", "path"), [
    (ALL_TEMPLATES, f"/compute/v1/projects/{PROJECT}/aggregated/instanceTemplates"),
    (TEMPLATES, f"/compute/beta/projects/{PROJECT}/global/instanceTemplates"),
    (INSTANCES, f"/compute/beta/projects/{PROJECT}/aggregated/instances"),
    (REGIONS, f"/compute/beta/projects/{PROJECT}/regions"),
])  # fmt: skip
def test_each_function_calls_the_documented_path(engine, cloud, token, path):
    engine.invoke(token)

    assert [entry["path"] for entry in cloud.requests(METHODS[token])] == [path]


@pytest.mark.parametrize("token", METHODS)
def test_every_parameter_is_sent(engine, cloud, token):
    arguments = {"filter": "name != x", "orderBy": "name", "maxResults": 7, "returnPartialSuccess": True}
    if "aggregated" in token:
        arguments |= {"includeAllScopes": True, "serviceProjectNumber": "123"}
    if token == TEMPLATES:
        arguments["view"] = "FULL"
    engine.invoke(token, **arguments)
    sent = cloud.requests(METHODS[token])[0]["query"]

    assert sent == {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()
    }


def test_all_pages_are_read_unless_max_results_requests_one(engine, cloud):
    for number in range(1203):
        path = f"projects/{PROJECT}/global/instanceTemplates/t{number:04}"
        cloud.emulator.store.put(path, {"kind": "compute#instanceTemplate", "name": f"t{number:04}", "selfLink": path})
    everything = engine.invoke(TEMPLATES)
    first = engine.invoke(TEMPLATES, maxResults=500)
    second = engine.invoke(TEMPLATES, maxResults=500, pageToken=first["nextPageToken"])
    rest = engine.invoke(TEMPLATES, pageToken=second["nextPageToken"])

    assert [len(result["items"]) for result in (everything, first, second, rest)] == [1203, 500, 500, 203]
    assert [item["name"] for part in (first, second, rest) for item in part["items"]] == [
        item["name"] for item in everything["items"]
    ]
    assert everything["nextPageToken"] == ""
    assert len(cloud.requests(METHODS[TEMPLATES])) == 3 + 1 + 1 + 1


def test_instances_stay_in_their_scopes_over_several_pages(engine, cloud):
    engine.create(FLEET, "f", fleet(7, locationPolicy={"targetShape": "BALANCED"}))
    everything = engine.invoke(INSTANCES)["items"]
    page = engine.invoke(INSTANCES, maxResults=2)

    zones = {scope: len(found["instances"]) for scope, found in everything.items() if found["instances"]}
    assert zones == {"zones/us-east1-b": 3, "zones/us-east1-c": 2, "zones/us-east1-d": 2}
    assert [len(found["instances"]) for found in page["items"].values() if found["instances"]] == [2]
    assert [found["warnings"] for scope, found in everything.items() if scope in zones] == [[], [], []]
    assert everything["zones/us-central1-a"]["warnings"][0]["code"] == "NO_RESULTS_ON_PAGE"


def test_a_listed_instance_has_its_properties(engine, cloud, vm):
    found = engine.invoke(INSTANCES, filter='name = "example-vm"')["items"][f"zones/{ZONE}"]["instances"][0]

    assert found["machineType"].endswith("/machineTypes/e2-medium")
    assert (found["status"], found["disks"][0]["boot"], found["disks"][0]["diskSizeGb"]) == ("RUNNING", True, 10)
    assert found["id"].isdigit()
    assert found["zone"].endswith(ZONE)


def test_templates_of_every_scope_are_listed(engine, cloud):
    _create_templates(engine, "a", "b")
    _create_templates(engine, "c", region="us-east1")
    scopes = engine.invoke(ALL_TEMPLATES)["items"]
    all_scopes = engine.invoke(ALL_TEMPLATES, includeAllScopes=True)["items"]

    assert [item["name"] for item in scopes["global"]["instanceTemplates"]] == ["a", "b"]
    assert scopes["regions/us-east1"]["instanceTemplates"][0]["properties"]["machineType"] == "e2-small"
    assert f"zones/{ZONE}" in all_scopes
    assert f"zones/{ZONE}" not in scopes


@pytest.mark.parametrize(("view", "shown"), [(None, False), ("BASIC", False), ("FULL", True)])
def test_only_the_full_view_has_partner_metadata(engine, cloud, view, shown):
    entries = {"example.com": {"entries": {"k": "v"}}}
    engine.create(TEMPLATE, "web", {"properties": {**template()["properties"], "partnerMetadata": entries}})
    found = engine.invoke(TEMPLATES, **({"view": view} if view else {}))["items"][0]

    assert (found["properties"].get("partnerMetadata") == entries) == shown


@pytest.mark.parametrize(
    ("order", "names"),
    [(None, ["a", "b", "c"]), ("name", ["a", "b", "c"]), ("creationTimestamp desc", ["a", "c", "b"])],
)
def test_order_by_sets_the_order_over_several_pages(engine, cloud, order, names):
    for name, day in (("b", 1), ("c", 2), ("a", 3)):
        path = f"projects/{PROJECT}/global/instanceTemplates/{name}"
        body = {"kind": "compute#instanceTemplate", "name": name, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"}
        cloud.emulator.store.put(path, body)
    arguments = {"maxResults": 2, **({"orderBy": order} if order else {})}
    first = engine.invoke(TEMPLATES, **arguments)
    second = engine.invoke(TEMPLATES, **arguments, pageToken=first["nextPageToken"])

    assert [item["name"] for item in (*first["items"], *second["items"])] == names


def test_item_fields_limit_what_is_read(engine, cloud):
    _create_templates(engine, "a")
    narrow = engine.invoke(ALL_TEMPLATES, itemFields=["properties/machineType"])["items"]["global"]
    link = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/instanceTemplates/a"

    assert narrow["instanceTemplates"] == [
        {"name": "a", "selfLink": link, "properties": {"machineType": "e2-small"}}
    ], "name and link are always read, so that their types need not be optional"


def test_regions_are_listed_without_quotas_on_request(engine, cloud):
    whole, narrow = engine.invoke(REGIONS)["items"], engine.invoke(REGIONS, omitQuotas=True)["items"]

    assert {quota["metric"] for quota in whole[0]["quotas"]} >= {"CPUS", "INSTANCES"}
    assert "quotas" not in narrow[0]
    assert {key for key in whole[0] if key != "quotas"} == set(narrow[0])
    assert "quotas" not in cloud.requests(METHODS[REGIONS])[1]["query"]["fields"]


def test_a_region_whose_quotas_cannot_be_read_has_a_warning(engine, cloud):
    cloud.post("/_emulator/outages", {"quotas": ["us-east1"]})
    regions = {item["name"]: item for item in engine.invoke(REGIONS)["items"]}

    assert regions["us-east1"]["quotaStatusWarning"]["code"] == "QUOTA_INFO_UNAVAILABLE"
    assert "quotas" not in regions["us-east1"]
    assert regions["us-central1"]["quotas"]
    cloud.post("/_emulator/outages", {"quotas": ["us-east1"], "requireBasicQuota": True})
    answer = plain_http.get(f"http://{cloud.host}/compute/beta/projects/{PROJECT}/regions")
    assert (answer.status_code, "requireBasicQuota" in answer.text) == (503, True)


@pytest.mark.parametrize(("token", "scope"), [(INSTANCES, f"zones/{ZONE}"), (ALL_TEMPLATES, "regions/us-east1")])
def test_partial_success_returns_the_rest_and_names_the_unreachable_scope(engine, cloud, vm, token, scope):
    _create_templates(engine, "a")
    cloud.post("/_emulator/outages", {"scopes": [scope]})
    result = engine.invoke(token, returnPartialSuccess=True)

    assert result["unreachables"] == [scope]
    assert result["items"][scope]["warnings"][0]["code"] == "UNREACHABLE"
    assert len(result["items"]) > 3
    assert [text for _, _, text in engine.log.messages if "partial" in text] == [
        f"the result is partial: {scope} cannot be reached"
    ]


def test_without_partial_success_an_unreachable_scope_is_an_error(engine, cloud):
    cloud.fail(METHODS[INSTANCES], status=400, message="Scope 'zones/a' cannot be reached")
    with failing() as failures:
        engine.invoke(INSTANCES)

    assert "cannot be reached" in failures[0].message


@pytest.mark.parametrize(("filter_", "position"), [
    ("name ~ x", 6), ("name = ", 7), ("(name = a", 10), ("name = a)", 9), ("= a", 1), ("name like x", 6),
    ("name = a OR", 12), ("(name eq a) (zone = b)", 14), ("(name eq a) (zone eq b)", 14), ("name == a", 7),
    ("name eq a OR name eq b", 1), ("name eq a name eq b", 1), ("name eq 'a", 9), ("name", 5),
])  # fmt: skip
def test_a_malformed_filter_is_refused_with_its_position_before_any_call(engine, cloud, filter_, position):
    refused = engine.refusals(INSTANCES, filter=filter_)

    assert refused["filter"].startswith(f"is malformed at character {position}: ")
    assert cloud.calls() == []


def test_a_malformed_filter_is_refused_with_what_belongs_there(engine):
    refused = engine.refusals(INSTANCES, filter="name = = x")["filter"]

    assert refused.endswith("'=' is unexpected here: a string, a number, true, false or * is expected")


def test_all_wrong_arguments_are_reported_at_once(engine, cloud):
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


def test_a_project_is_required_as_an_argument_or_a_setting(cloud, monkeypatch):
    for name in ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    with driver.engine(emulatorHost=cloud.host) as engine:
        assert engine.refusals(REGIONS)["project"].startswith("is required")
        assert engine.invoke(REGIONS, project="other")["items"]
