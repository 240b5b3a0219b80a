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
