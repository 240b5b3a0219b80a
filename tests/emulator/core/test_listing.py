"""What list methods have in common: order, pages, filters, masks, links."""

from __future__ import annotations

import datetime as dt

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1
from programs import PROJECT

from gcpx_emulator.core.filtering import predicate
from gcpx_emulator.core.masking import apply_mask, parse_mask

BASE = f"/compute/v1/projects/{PROJECT}"
FIRST, SECOND = 9007199254740993, 9007199254740992
"""Two IDs that are the same number once they are floats."""


@pytest.fixture
def http(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture
def instances(cloud):
    """Four instances in two zones; c and d are as old as each other."""
    for day, (zone, name) in enumerate((("us-east1-b", "b"), ("us-east1-c", "a"), ("us-east1-b", "c")), 1):
        path = cloud.make_instance(name, zone)
        cloud.change(path, lambda body, day=day: body.update(creationTimestamp=f"2026-01-0{day}T00:00:00.000Z"))
    path = cloud.make_instance("d", "us-east1-c")
    cloud.change(path, lambda body: body.update(creationTimestamp="2026-01-03T00:00:00.000Z"))
    options = {"host": cloud.host, "url_scheme": "http", "credentials": AnonymousCredentials()}
    client = compute_v1.InstancesClient
    return client(transport=client.get_transport_class("rest")(**options))


def _aggregated(instances, size=500, **query):
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT, max_results=size, **query)
    pages = instances.aggregated_list(request=request).pages
    return [[item.name for scope in page.items.values() for item in scope.instances] for page in pages]


@pytest.mark.parametrize("size", [500, 1, 2, 3])
def test_an_aggregated_list_comes_newest_first(instances, size):
    pages = _aggregated(instances, size, order_by="creationTimestamp desc")
    wanted = ["c", "d", "a", "b"]

    # Within a page, items are grouped by their scope.
    assert [set(page) for page in pages] == [set(wanted[begin : begin + size]) for begin in range(0, 4, size)]


def test_an_aggregated_list_comes_by_name_within_each_scope(instances, http):
    answers = [http.get(f"{BASE}/aggregated/instances", params={"orderBy": order}).json() for order in ("name", "")]
    zones = [
        {place: [item["name"] for item in scope.get("instances", ())] for place, scope in answer["items"].items()}
        for answer in answers
    ]

    assert zones[0] == zones[1]
    assert (zones[0]["zones/us-east1-b"], zones[0]["zones/us-east1-c"]) == (["b", "c"], ["a", "d"])


def test_what_is_made_between_two_pages_moves_nothing(instances, cloud):
    request = compute_v1.ListInstancesRequest(
        project=PROJECT, zone="us-east1-b", max_results=1, order_by="creationTimestamp desc"
    )
    pages = instances.list(request=request).pages
    first = [item.name for item in next(pages).items]
    cloud.make_instance("newest", "us-east1-b")

    assert (first, [[item.name for item in page.items] for page in pages]) == (["c"], [["b"]])


def _names(filter_, *items):
    test = predicate(filter_)
    return [item["name"] for item in items if test is None or test(item)]


@pytest.mark.parametrize(("filter_", "names"), [
    (f"id = {FIRST}", ["first"]), (f"id != {FIRST}", ["second"]), (f"id > {SECOND}", ["first"]),
    (f"id < {FIRST}", ["second"]), (f"id:{SECOND}", ["second"]), (f'id = "{FIRST}"', ["first"]),
    (f"number = {FIRST}", ["first"]), (f"number <= {SECOND}", ["second"]), (f"id >= {SECOND}.5", ["first"]),
])  # fmt: skip
def test_filters_compare_64_bit_numbers_exactly(filter_, names):
    both = [
        {"name": "first", "id": str(FIRST), "number": FIRST},
        {"name": "second", "id": str(SECOND), "number": SECOND},
    ]

    assert _names(filter_, *both) == names


@pytest.mark.parametrize(("filter_", "found"), [
    ('creationTimestamp = "2026-01-02T01:00:00+01:00"', True), ('creationTimestamp = "2026-01-02T00:00:00.000Z"', True),
    ('creationTimestamp > "2026-01-01T23:00:00-02:00"', False), ('creationTimestamp < "2026-01-01T23:00:00-02:00"', True),
    ('creationTimestamp >= "2026-01-02T00:00:00Z"', True), ("creationTimestamp > 2026-01-01", True),
    ('creationTimestamp != "2026-01-02T01:00:00+01:00"', False), ('creationTimestamp > "2026-13-01"', False),
])  # fmt: skip
def test_filters_compare_times_with_different_offsets(filter_, found):
    made = dt.datetime(2026, 1, 2, tzinfo=dt.UTC).isoformat().replace("+00:00", "Z")

    assert bool(_names(filter_, {"name": "x", "creationTimestamp": made})) == found


@pytest.mark.parametrize(("filter_", "found"), [
    ("labels.release = nan", True), ("labels.release = 1_0", False), ("labels.release != nan", False),
    ("labels.build = 7", False), ("labels.build = 007", True), ("labels.build:00", True),
])  # fmt: skip
def test_texts_that_only_resemble_numbers_are_texts(filter_, found):
    assert bool(_names(filter_, {"name": "x", "labels": {"release": "nan", "build": "007"}})) == found


BODY = {"kind": "k", "items": [{"name": "n", "id": "1", "quotas": [{"metric": "m", "limit": 2, "usage": 1}]}]}


@pytest.mark.parametrize(("mask", "shown"), [
    ("items(name),items(id)", {"items": [{"name": "n", "id": "1"}]}),
    ("items/name,items/id", {"items": [{"name": "n", "id": "1"}]}),
    ("items/name,kind,items(id)", {"kind": "k", "items": [{"name": "n", "id": "1"}]}),
    ("items/quotas/metric,items/quotas(limit)", {"items": [{"quotas": [{"metric": "m", "limit": 2}]}]}),
    ("items,items/name", {"items": BODY["items"]}), ("items/name,items", {"items": BODY["items"]}),
    ("items(quotas(metric),quotas(usage),name)", {"items": [{"name": "n", "quotas": [{"metric": "m", "usage": 1}]}]}),
    ("items/*/metric,items/name", {"items": [{"name": "n", "id": "1", "quotas": [{"metric": "m"}]}]}),
    ("*", BODY), ("kind, items( name )", {"kind": "k", "items": [{"name": "n"}]}),
])  # fmt: skip
def test_every_part_of_a_mask_counts(mask, shown):
    assert apply_mask(BODY, parse_mask(mask)) == shown


@pytest.mark.parametrize(
    "mask", ["items(", "items()", ")", "items/", "items)name", ",", "items,", "a b", "a(" * 500 + "b" + ")" * 500]
)
def test_a_mask_that_is_malformed_is_refused(http, mask):
    answer = http.get(f"{BASE}/regions", params={"fields": mask})

    assert (answer.status_code, "Invalid field selection" in answer.text) == (400, True)


def test_a_call_with_a_malformed_mask_changes_nothing(http, cloud):
    answer = http.post(f"/storage/v1/b?project={PROJECT}&fields=name(", json={"name": "not-made"})

    assert (answer.status_code, cloud.get("b/not-made")) == (400, None)


@pytest.mark.parametrize("version", ["v1", "beta"])
@pytest.mark.parametrize(
    "collection",
    ["regions", "zones", "global/networks", "zones/us-east1-b/machineTypes", "regions/us-east1/subnetworks"],
)
def test_lists_of_what_every_project_has_link_to_themselves(http, version, collection):
    path = f"projects/{PROJECT}/{collection}"
    answer = http.get(f"/compute/{version}/{path}").json()
    links = [item["selfLink"] for item in answer["items"]]

    assert (answer["id"], answer["selfLink"]) == (path, f"https://www.googleapis.com/compute/{version}/{path}")
    assert links == [f"{answer['selfLink']}/{item['name']}" for item in answer["items"]]
    assert http.get(links[0].removeprefix("https://www.googleapis.com")).status_code == 200


@pytest.mark.parametrize("collection", ["regions", "zones", "global/networks"])
def test_what_is_missing_is_named_by_its_path(http, collection):
    path = f"projects/{PROJECT}/{collection}/missing"
    answer = http.get(f"/compute/v1/{path}")

    assert (answer.status_code, answer.json()["error"]["message"]) == (404, f"The resource '{path}' was not found")
