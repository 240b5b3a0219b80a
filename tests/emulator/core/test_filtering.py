"""The filter language: both forms, by the resources that they accept."""

from __future__ import annotations

import datetime as dt

import pytest
from values.programs import PROJECT, properties

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.listing import predicate

TEMPLATES = f"/compute/v1/projects/{PROJECT}/global/instanceTemplates"
WEB = {
    "name": "web-1", "id": "12", "status": "RUNNING", "canIpForward": True, "size": 10, "creationTimestamp": "2026-01-02T00:00:00Z",
    "labels": {"team": "web", "a.b/c": "x", "quoted": 'say "hi" \\ bye'}, "scheduling": {"automaticRestart": False, "minNodeCpus": 4},
    "tags": {"items": ["http", "https"]}, "disks": [{"boot": True, "diskSizeGb": "10"}, {"boot": False, "diskSizeGb": "200"}],
}  # fmt: skip
DB = {
    "name": "db-1",
    "id": "3",
    "status": "TERMINATED",
    "size": 9,
    "creationTimestamp": "2025-01-02T00:00:00Z",
    "labels": {},
}
BOTH, NEITHER, ONE, OTHER = ["web-1", "db-1"], [], ["web-1"], ["db-1"]
FIRST, SECOND = 9007199254740993, 9007199254740992
"""Two IDs that are the same number once they are floats."""


@pytest.mark.parametrize(("filter_", "names"), [
    ("", BOTH), ("  ", BOTH),
    ("name = web-1", ONE), ('name="web-1"', ONE), ("name = 'web-1'", ONE), ("name = WEB-1", NEITHER),
    ("name != web-1", OTHER), ("(name = web-1)", ONE), ("((name = web-1))", ONE),
    ("canIpForward = true", ONE), ("canIpForward = TRUE", ONE), ("canIpForward = false", NEITHER),
    ("canIpForward != true", OTHER), ("scheduling.automaticRestart = false", ONE),
    ("size > 9", ONE), ("size >= 9", BOTH), ("size < 10", OTHER), ("size <= 10", BOTH), ("id > 4", ONE), ("id < 4", OTHER),
    ("size = 10.0", ONE), ("scheduling.minNodeCpus >= 4", ONE),
    ("creationTimestamp > 2025-06-01", ONE), ('creationTimestamp < "2025-06-01"', OTHER),
    ("labels.team:*", ONE), ("labels.team : *", ONE), ("labels:*", BOTH), ("labels.none:*", NEITHER),
    ("labels:team", ONE), ("labels.team:we", ONE), ('labels."a.b/c" = x', ONE), ('labels."a.b/c":*', ONE),
    ("labels.team != web", OTHER), ("labels.team = web", ONE),
    (r'labels.quoted = "say \"hi\" \\ bye"', ONE), (r"labels.quoted = 'say \"hi\" \\ bye'", ONE),
    ("tags.items:http", ONE), ("tags.items = https", ONE), ("tags.items = ftp", NEITHER),
    ("disks.boot = false", ONE), ("disks.diskSizeGb > 100", ONE), ("disks.diskSizeGb > 500", NEITHER),
    ("name = web-1 AND size = 10", ONE), ("(name = web-1) (size = 9)", NEITHER), ("(name = web-1)(size = 10)", ONE),
    ("name = web-1 OR name = db-1", BOTH), ("(name = web-1) OR (name = db-1)", BOTH),
    ("(name = web-1) OR (name = db-1) AND (size = 9)", OTHER), ("(size = 9) AND (name = web-1) OR (name = db-1)", OTHER),
    ("((name = web-1) AND (size = 10)) OR (size = 9)", BOTH),
    ("NOT name = web-1", OTHER), ("-(name = web-1)", OTHER), ("NOT (size > 9 OR size < 5)", OTHER),
    ("name eq web-1", ONE), ("name eq web", NEITHER), ("name eq web.*", ONE), ("name ne .*1", NEITHER), ("name ne web.*", OTHER),
    ("name eq '(web|db)-[0-9]'", BOTH), ('name eq "(web|db)-[0-9]"', BOTH), ("name eq (web|db)-[0-9]", BOTH),
    ("(name eq .*-1) (name ne db.*)", ONE), ("(name eq web-.*)(name eq .*-1)", ONE), (r"name eq web\-\d", ONE),
    ("name = web-*", ONE), ("name=*-1", BOTH), ('name = "*b-*"', BOTH), ("name != web-*", OTHER), ("name != *", NEITHER), ("name = *", BOTH),
    ("name:web-*", ONE), ("name:eb-*", NEITHER), ("name:*eb-*", ONE), ("status=RUN*", ONE), ("status = run*", NEITHER),
    ("status:RUN*", ONE), ("NOT status=RUN*", OTHER), ("labels:te*", ONE), ("labels.team = w*", ONE),
    ("tags.items:http*", ONE), ("tags.items = *s", ONE), ("name = w.b*", NEITHER), ("name = web-1*", ONE), ("name = *web-1*", ONE),
    ("canIpForward eq true", ONE), ("labels.team eq w.b", ONE), ("labels.team ne w.b", OTHER),
])  # fmt: skip
def test_a_filter_accepts(filter_, names):
    test = predicate(filter_)

    assert [item["name"] for item in (WEB, DB) if test is None or test(item)] == names


@pytest.mark.parametrize(("filter_", "words"), [
    ("name ~ x", "character 6"), ("name", "character 5"), ("= x", "character 1"), ("(name = a", "missing"),
    ("name eq a AND size = 1", "cannot be mixed"), ("(name eq a) (size > 1)", "cannot be mixed"),
    ("(name eq a) (status eq b)", "several fields"), ("name eq [", "not an RE2 expression"), ("name eq a(?=b)", "not an RE2 expression"),
    (r"name eq (a)\1", "not an RE2 expression"), ("name eq a OR name eq b", "cannot be joined by OR"), ("NOT name eq a", "cannot be joined"),
    ("(name eq a) AND (name eq b)", "cannot be joined by AND"), ("name eq a name eq b", "in parentheses"), ("a" * 5000 + " = b", "at most 4,096"), ("(" * 60 + "a = b" + ")" * 60, "deeper"),
])  # fmt: skip
def test_an_invalid_filter_is_refused_in_googles_format(filter_, words):
    with pytest.raises(ApiError, match="Invalid value for field 'filter'") as refused:
        predicate(filter_)

    assert refused.value.status == 400
    assert words in refused.value.message


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
def test_texts_that_only_look_like_numbers_are_compared_as_texts(filter_, found):
    assert bool(_names(filter_, {"name": "x", "labels": {"release": "nan", "build": "007"}})) == found


@pytest.mark.parametrize(
    ("filter_", "names"),
    [('name = "a"', ["a"]), ("name!=a", ["b"]), ("name eq [ab]", ["a", "b"]), ("name ne a.*", ["b"]),
     ("(properties.canIpForward = true)", ["b"]), ('(name = "a") AND (properties.machineType = "e2-small")', ["a"])],
)  # fmt: skip
def test_lists_are_filtered(http, cloud, filter_, names):
    for name in "ab":
        http.post(TEMPLATES, json={"name": name, "properties": properties(canIpForward=name == "b")})
    cloud.emulator.operations.settle()

    assert [item["name"] for item in http.get(TEMPLATES, params={"filter": filter_}).json()["items"]] == names


@pytest.mark.parametrize("filter_", [
    'properties.labels."a.b/c":*', "properties.labels.team != web", "properties.disks.boot = true",
    "properties.disks.diskSizeGb >= 1e1", "id > 4", "name:*", "properties.labels:te*", "properties.metadata.items.key = x",
    "properties.scheduling.automaticRestart = TRUE", "id eq [0-9]+", "creationTimestamp > 2025-06-01",
])  # fmt: skip
def test_lists_are_filtered_by_every_field_that_their_items_can_have(http, filter_):
    assert http.get(TEMPLATES, params={"filter": filter_}).status_code == 200


@pytest.mark.parametrize(("filter_", "words"), [
    ("nmae = web", "'nmae' is not a field"), ("nmae eq web", "'nmae' is not a field"), ("labels.team = web", "'labels' is not a field"),
    ("properties.machine_type = x", "'properties.machine_type' is not a field"), ("name.first = x", "'name.first' is not a field"),
    ("properties = x", "only with :"), ("properties.labels = x", "only with :"), ("properties.labels eq x", "only with :"),
    ("properties.canIpForward > true", "only with = and !="), ("properties.canIpForward = maybe", "true or false"),
    ("properties.canIpForward = t*", "true or false"), ("id = web", "a number"), ("id > 1*", "a number"),
    ("name = (a OR b)", "character 8"), ("name", "ends too early"), ("web-*", "'*'"), ("has(name)", "character 4"),
    ("properties.disks[0].boot = true", "character 17"), ("name = a and id = 1", "character 14"), ("name =~ a", "ends too early"),
])  # fmt: skip
def test_a_list_refuses_a_filter_that_it_cannot_carry_out(http, filter_, words):
    refused = http.get(TEMPLATES, params={"filter": filter_})

    assert refused.status_code == 400
    assert words in refused.json()["error"]["message"]


@pytest.mark.parametrize(("path", "status"), [
    ("aggregated/instances?filter=status=RUN*", 200), ("aggregated/instances?filter=states=RUN*", 400),
    ("zones?filter=name:us-east1-*", 200), ("zones?filter=nmae:us-east1-*", 400), ("global/images?filter=family:deb*", 200),
    ("global/operations?filter=operationGroupId=x", 200), ("zones/us-east1-b/machineTypes?filter=guestCpus>4", 200),
    ("zones/us-east1-b/machineTypes?filter=guestCpus=many", 400),
])  # fmt: skip
def test_every_kind_of_list_checks_its_filter(http, path, status):
    assert http.get(f"/compute/v1/projects/{PROJECT}/{path}").status_code == status
