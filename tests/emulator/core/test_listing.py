"""The order and the pages of lists."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_template
from values.programs import PROJECT

BASE = f"/compute/v1/projects/{PROJECT}"


@pytest.fixture
def instances(cloud):
    """Four instances in two zones; c and d are as old as each other."""
    for day, (zone, name) in enumerate((("us-east1-b", "b"), ("us-east1-c", "a"), ("us-east1-b", "c")), 1):
        path = cloud.make_instance(name, zone)
        cloud.change(path, lambda body, day=day: body.update(creationTimestamp=f"2026-01-0{day}T00:00:00.000Z"))
    path = cloud.make_instance("d", "us-east1-c")
    cloud.change(path, lambda body: body.update(creationTimestamp="2026-01-03T00:00:00.000Z"))
    return connect(compute_v1.InstancesClient, cloud)


def _aggregated(instances, size=500, **query):
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT, max_results=size, **query)
    pages = instances.aggregated_list(request=request).pages
    return [[item.name for scope in page.items.values() for item in scope.instances] for page in pages]


@pytest.fixture
def templates(cloud):
    return connect(compute_v1.InstanceTemplatesClient, cloud)


def test_lists_come_in_pages_and_are_filtered_and_ordered(templates):
    for name in ("c", "a", "b"):
        insert_template(templates, name).result()
    request = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, max_results=2)
    pages = [[item.name for item in page.items] for page in templates.list(request=request).pages]

    assert pages == [["a", "b"], ["c"]]
    newest = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, order_by="creationTimestamp desc")
    assert next(iter(templates.list(request=newest))).name in {"b", "c"}
    chosen = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, filter='name = "b"')
    assert [item.name for item in templates.list(request=chosen)] == ["b"]
    with pytest.raises(exceptions.BadRequest, match="range"):
        list(templates.list(request=compute_v1.ListInstanceTemplatesRequest(project=PROJECT, max_results=501)))


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


def test_items_created_between_two_pages_do_not_shift_them(instances, cloud):
    request = compute_v1.ListInstancesRequest(
        project=PROJECT, zone="us-east1-b", max_results=1, order_by="creationTimestamp desc"
    )
    pages = instances.list(request=request).pages
    first = [item.name for item in next(pages).items]
    cloud.make_instance("newest", "us-east1-b")

    assert (first, [[item.name for item in page.items] for page in pages]) == (["c"], [["b"]])


@pytest.mark.parametrize("token", ["x", "e30=", "W10=", "WyJhIiwgImIiXQ=="])
def test_a_page_token_of_another_request_is_refused(http, token):
    answer = http.get("/compute/v1/projects/p/global/instanceTemplates", params={"pageToken": token})

    assert (answer.status_code, "pageToken" in answer.text) == (400, True)
