"""Pulumi's `List` of every resource: pages, queries, and IDs that can be imported."""

from __future__ import annotations

import json

import pytest
from engines.clocked import ClockedProvider
from engines.driver import failing, rpc, struct
from samples import SAMPLES
from values.programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    VM,
    attachment,
    fleet,
    image,
    notification,
)  # fmt: skip

from gcpx.model.fields import empty_value


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_listed_id_can_be_imported(engine, cloud, vm, sample):
    token = sample.token
    before, _ = engine.list(token, sample.query)
    created = engine.create(token, "x", sample.inputs)
    ids, after = engine.list(token, sample.query)

    assert (sorted(ids), after) == (sorted([*before, created.id]), "")
    assert created.id not in before
    found = engine.import_(token, "y", created.id)
    assert found.id == created.id
    assert engine.diff(found, found.inputs).changes == rpc.DiffResponse.DIFF_NONE


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_an_empty_value_in_a_query_is_none(engine, cloud, vm, sample):
    engine.create(sample.token, "x", sample.inputs)
    kind = ClockedProvider().resource(sample.token).query_type
    empty = {name: empty_value(prop.type) for name, prop in kind.inputs.items()}

    assert engine.list(sample.token, {**empty, **sample.query}) == engine.list(sample.token, sample.query)


def _store_templates(cloud, count, scope="global"):
    for number in range(count):
        path = f"projects/{PROJECT}/{scope}/instanceTemplates/t{number:04}"
        body = {
            "kind": "compute#instanceTemplate",
            "name": f"t{number:04}",
            "selfLink": f"https://www.googleapis.com/compute/v1/{path}",
        }
        cloud.emulator.store.put(path, body)


def test_a_call_returns_one_page_and_the_token_of_the_next(engine, cloud):
    _store_templates(cloud, 1100)
    pages, after = [], ""
    while True:
        ids, after = engine.list(TEMPLATE, after=after)
        pages.append(ids)
        if not after:
            break

    assert [len(ids) for ids in pages] == [500, 500, 100]
    assert len({found for ids in pages for found in ids}) == 1100
    assert {entry["query"]["fields"] for entry in cloud.requests("compute.instanceTemplates.aggregatedList")} == {
        "items/*(instanceTemplates(selfLink,name),warning),kind,id,selfLink,nextPageToken,warning"
    }


@pytest.mark.parametrize(
    ("limit", "size", "found", "calls"), [(3, 0, 3, 1), (600, 0, 600, 2), (0, 7, 7, 1), (10, 4, 10, 3)]
)
def test_no_more_pages_are_read_than_the_limit_needs(engine, cloud, limit, size, found, calls):
    _store_templates(cloud, 1100)
    ids, after = engine.list(TEMPLATE, limit=limit, size=size)

    assert (len(ids), len(cloud.requests("compute.instanceTemplates.aggregatedList"))) == (found, calls)
    assert after


def test_templates_are_listed_by_region_or_by_filter(engine, cloud):
    _store_templates(cloud, 2)
    _store_templates(cloud, 3, "regions/us-east1")

    assert len(engine.list(TEMPLATE)[0]) == 5
    assert len(engine.list(TEMPLATE, {"region": "us-east1"})[0]) == 3
    assert engine.list(TEMPLATE, {"filter": "name = t0002"})[0] == [
        f"projects/{PROJECT}/regions/us-east1/instanceTemplates/t0002"
    ]


def test_attachments_are_listed_by_zone_without_boot_disks_and_local_ssds(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment(deviceName="data"))
    scratch = {"deviceName": "ssd", "type": "SCRATCH"}
    cloud.change(VM, lambda body: body["disks"].append(scratch))

    assert engine.list(ATTACHMENT, {"zone": "us-east1-b"})[0] == [created.id]
    assert engine.list(ATTACHMENT, {"zone": "us-east1-c"})[0] == []
    assert engine.list(ATTACHMENT, {"filter": "name = other"})[0] == []


def test_each_fleet_is_listed_once_and_by_region(engine, cloud):
    one = engine.create(FLEET, "one", fleet(3, locationPolicy={"targetShape": "BALANCED"}))
    two = engine.create(FLEET, "two", fleet(1, region="us-central1", namePattern="b-##"))

    assert set(engine.list(FLEET)[0]) == {one.id, two.id}
    assert engine.list(FLEET, {"region": "us-central1"})[0] == [two.id]


def test_notifications_are_listed_for_one_bucket_or_all(engine, cloud):
    bucket = {"kind": "storage#bucket", "name": "other-bucket", "id": "other-bucket", "_project": PROJECT}
    cloud.emulator.store.put("b/other-bucket", bucket)
    one = engine.create(NOTIFICATION, "one", notification())
    two = engine.create(NOTIFICATION, "two", notification(bucket="other-bucket"))

    assert engine.list(NOTIFICATION)[0] == [one.id, two.id]
    assert engine.list(NOTIFICATION, {"bucket": BUCKET})[0] == [one.id]
    first, after = engine.list(NOTIFICATION, size=1)
    assert (first, engine.list(NOTIFICATION, size=1, after=after)[0]) == ([one.id], [two.id])


def test_a_bucket_that_vanishes_while_notifications_are_listed_has_none(engine, cloud):
    bucket = {"kind": "storage#bucket", "name": "a-bucket", "id": "a-bucket", "_project": PROJECT}
    cloud.emulator.store.put("b/a-bucket", bucket)
    one = engine.create(NOTIFICATION, "one", notification())

    def vanish(_: int, request: str) -> None:
        if request.endswith("/b/a-bucket/notificationConfigs"):
            cloud.emulator.store.delete("b/a-bucket")

    with cloud.interceptor.observed(vanish):
        assert engine.list(NOTIFICATION)[0] == [one.id]
    with failing() as failed:
        engine.list(NOTIFICATION, {"bucket": "a-bucket"})
    assert "a-bucket" in failed[0].message


@pytest.mark.parametrize(("token", "query", "words"), [
    (TEMPLATE, {"filter": "name ~ x"}, "filter: is malformed at character 6"),
    (TEMPLATE, {"regoin": "x"}, "did you mean region?"),
    (KEY, {}, "user: is required"),
    (NOTIFICATION, {"bucket": BUCKET, "project": PROJECT}, "conflicts with"),
    ("gcpx:compute:Nothing", {}, "is not a resource of gcpx"),
])  # fmt: skip
def test_a_wrong_query_is_refused_before_any_call(engine, cloud, token, query, words):
    with failing() as failures:
        engine.list(token, query)

    assert words in failures[0].message
    assert cloud.calls() == []


def test_a_query_with_an_unknown_value_returns_an_unknown_result(engine, cloud):
    request = rpc.ListRequest(token=KEY, query=struct({"user": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}))

    assert [answer.WhichOneof("response") for answer in engine.stub.List(request)] == ["computed"]
    assert cloud.calls() == []


def test_an_error_of_google_is_reported(engine, cloud):
    cloud.fail("compute.instanceTemplates.aggregatedList", status=403, message="no permission")
    with failing() as failures:
        engine.list(TEMPLATE)

    assert "no permission" in failures[0].message


@pytest.mark.parametrize(
    ("token", "inputs"),
    [(IMAGE, image()), (ATTACHMENT, attachment()), (FLEET, fleet(2))],
    ids=["image", "disk", "fleet"],
)
def test_an_import_writes_links_of_v1_which_users_know(engine, vm, token, inputs):
    imported = engine.import_(token, "adopted", engine.create(token, "x", inputs).id)
    written = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}

    assert "/compute/v1/" in str(written)
    assert "/compute/beta/" not in str(written)
    assert engine.diff(imported, written).changes == rpc.DiffResponse.DIFF_NONE


def test_names_in_a_list_cannot_steer_the_terminal(engine, cloud):
    name = "a\u202egnp.exe\x1b[2J"
    item = {
        "name": name,
        "selfLink": f"https://compute.googleapis.com/compute/v1/projects/{PROJECT}/global/machineImages/{name}",
    }
    cloud.fail("compute.machineImages.list", body=json.dumps({"items": [item]}))
    found = engine.stub.List(rpc.ListRequest(token=IMAGE))

    shown = [text for answer in found for text in (answer.result.id, answer.result.name)]
    assert len(shown) == 2
    assert all("\\u202egnp.exe\\x1b[2J" in text for text in shown), shown
