"""The filter language, whole: both forms, by what they let through."""

from __future__ import annotations

import httpx
import pytest
from steered import HANGS

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.filtering import predicate

WEB = {
    "name": "web-1", "id": "12", "status": "RUNNING", "canIpForward": True, "size": 10, "creationTimestamp": "2026-01-02T00:00:00Z",
    "labels": {"team": "web", "a.b/c": "x"}, "scheduling": {"automaticRestart": False, "minNodeCpus": 4},
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
def test_a_filter_lets_through(filter_, names):
    test = predicate(filter_)

    assert [item["name"] for item in (WEB, DB) if test is None or test(item)] == names


@pytest.mark.parametrize(("filter_", "words"), [
    ("name ~ x", "character 6"), ("name", "character 5"), ("= x", "character 1"), ("(name = a", "missing"),
    ("name eq a AND size = 1", "cannot be mixed"), ("(name eq a) (size > 1)", "cannot be mixed"),
    ("(name eq a) (status eq b)", "several fields"), ("name eq [", "not an RE2 expression"), ("name eq a(?=b)", "not an RE2 expression"),
    (r"name eq (a)\1", "not an RE2 expression"), ("name eq a OR name eq b", "not joined by OR"), ("NOT name eq a", "not joined"),
    ("name eq a name eq b", "in parentheses"), ("a" * 5000 + " = b", "at most 4,096"), ("(" * 60 + "a = b" + ")" * 60, "deeper"),
])  # fmt: skip
def test_a_filter_that_is_none_is_refused_in_googles_shape(filter_, words):
    with pytest.raises(ApiError, match="Invalid value for field 'filter'") as refused:
        predicate(filter_)

    assert refused.value.status == 400
    assert words in refused.value.message


@pytest.mark.parametrize("token", ["x", "e30=", "W10=", "WyJhIiwgImIiXQ=="])
def test_a_page_token_of_another_request_is_refused(cloud, token):
    url = f"http://{cloud.host}/compute/v1/projects/p/global/instanceTemplates"
    answer = httpx.get(url, params={"pageToken": token}, trust_env=False, timeout=HANGS)
    assert (answer.status_code, "pageToken" in answer.text) == (400, True)
