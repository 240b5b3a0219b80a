"""Partial responses: the parameter `fields`."""

from __future__ import annotations

import pytest
from values.programs import PROJECT

from gcpx_emulator.core.masks import apply_mask, parse_mask

BASE = f"/compute/v1/projects/{PROJECT}"
BODY = {"kind": "k", "items": [{"name": "n", "id": "1", "quotas": [{"metric": "m", "limit": 2, "usage": 1}]}]}


def test_answers_are_cut_to_the_fields_asked_for(http):
    answer = http.get(f"{BASE}/regions?fields=items(name,quotas/metric),kind").json()

    assert set(answer) == {"items", "kind"}
    assert set(answer["items"][0]) == {"name", "quotas"}
    assert set(answer["items"][0]["quotas"][0]) == {"metric"}
    assert http.get(f"{BASE}/regions?fields=items(").status_code == 400
    assert http.get(f"{BASE}/regions?fields=)").status_code == 400


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
def test_a_mask_keeps_every_field_that_it_names(mask, shown):
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


@pytest.mark.parametrize(
    ("mask", "unknown"),
    [
        ("pageToken,items(name)", "pageToken"),
        ("items(name,nmae)", "nmae"),
        ("items/quotas/nothing", "nothing"),
        ("items/*/nothing", "nothing"),
        ("items(name/first)", "first"),
    ],
)
def test_a_mask_with_an_unknown_name_is_refused(http, mask, unknown):
    answer = http.get(f"{BASE}/regions", params={"fields": mask})
    error = answer.json()["error"]

    assert (answer.status_code, error["message"]) == (400, f"Invalid field selection {unknown}")
    assert error["errors"][0]["reason"] == "invalidParameter"


@pytest.mark.parametrize(
    "mask", ["*", "items/*", "items/*/metric", "items(quotas/metric),nextPageToken,warning/data/key"]
)
def test_a_mask_of_known_names_is_accepted_whether_the_response_has_them_or_not(http, mask):
    assert http.get(f"{BASE}/regions", params={"fields": mask}).status_code == 200


def test_a_mask_may_name_any_key_of_a_map(http):
    answer = http.get(f"{BASE}/aggregated/instances", params={"fields": "items/zones%2Fus-east1-b"})
    assert answer.status_code == 400, "a slash is not part of a name"
    answer = http.get(f"/v1/projects/{PROJECT}/topics/uploads", params={"fields": "name,labels/anything"})
    assert answer.json() == {"name": f"projects/{PROJECT}/topics/uploads"}


def test_a_call_with_an_unknown_name_in_its_mask_changes_nothing(http, cloud):
    answer = http.post(f"/storage/v1/b?project={PROJECT}&fields=nmae", json={"name": "not-made"})

    assert (answer.status_code, cloud.get("b/not-made")) == (400, None)


@pytest.mark.parametrize("mask", ["items.*.instances.name", "items.*.instances(name)", "items/*.instances/name"])
def test_dots_separate_fields_as_slashes_do(mask):
    assert parse_mask(mask) == parse_mask("items/*/instances/name")
