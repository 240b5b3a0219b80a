"""The documented permissions are those that the verbs need: with exactly these they work, and without any one they fail."""

from __future__ import annotations

import re

import pytest
import yaml
from generate.api_permissions import permissions_of
from generate.verb_permissions import rows_of, table
from records.verb_record import rows
from records.verb_runs import VerbRun, run, verbs_of
from records.verb_scenarios import RUNS
from workspace import ROOT

from gcpx.gcp.permissions import needed
from gcpx.gcp.request import COMPUTE, PUBSUB, STORAGE, Request
from gcpx.provider import FUNCTIONS, RESOURCES, resource_class
from gcpx_emulator.core.permissions import NEEDS, PERMISSIONS

EVERY = frozenset(PERMISSIONS) - {"pubsub.topics.publish"}
"""What the account of gcpx may have. To publish is for the service agent of Cloud Storage."""
VERBS = list(verbs_of(RUNS))
METHODS = {method for row in table() for method in row.methods.split()}
"""The methods that gcpx calls and that need permissions."""
NEEDED = {method for row in table() if not row.without for method in row.methods.split()}
CONDITIONAL = [(method, need.name) for method in NEEDED for need in permissions_of(method) if need.when]


def _runs(token: str, verb: str) -> list[VerbRun]:
    return [item for item in RUNS if (item.token, item.verb) == (token, verb)]


_SEEN: dict[VerbRun, frozenset[str]] = {}
"""The methods that each run called; what a run calls does not change."""


def _calling(cloud, runs, *methods):
    """Return the runs that call one of these methods."""
    for item in runs:
        if item not in _SEEN:
            _SEEN[item] = run(cloud, item).methods
    return [item for item in runs if _SEEN[item].intersection(methods)]


def _is_refused(cloud, item, permission, *methods):
    """Return whether a verb fails without a permission for some methods, and says so.

    Google's reference requires "one or more" of some permissions, so the emulator accepts any of them. Which one Google
    checks depends on the request, so users need all that apply.
    """
    sets = [{one.name for one in need.permissions} for method in methods for need in NEEDS[method]]
    alternatives = frozenset().union(*(found for found in sets if permission in found))
    error = run(cloud, item, denied=alternatives, every=EVERY).error
    return any(f"'{name}'" in error for name in alternatives)


def test_the_roles_of_the_page_hold_all_permissions():
    text = (ROOT / "docs" / "permissions.md").read_text()
    roles = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    *single, everything = (set(role["includedPermissions"]) for role in roles)
    elsewhere = {"iam.serviceAccounts.actAs", "serviceusage.services.use"}
    needed = {need.name for method in METHODS for need in permissions_of(method)}

    assert everything == set().union(*single) == needed - elsewhere
    assert all(f"`{name}`" in text.split("## Granted elsewhere")[1] for name in elsewhere)


def test_every_verb_of_every_resource_and_every_function_is_run():
    expected = {(token, "call") for token in FUNCTIONS}
    for token in RESOURCES:
        verbs = [
            "create",
            "read",
            *["update"] * bool(resource_class(token).in_place),
            "delete",
            "list",
            "validateOnline",
        ]
        expected |= {(token, verb) for verb in verbs}

    assert set(VERBS) == expected == {(row.token, row.verb) for row in table()}
    assert len({str(item) for item in RUNS}) == len(RUNS), "the names of runs tell them apart"


def _named(method, http_method, path):
    """Return the permissions that an error about a call would name."""
    api = next((item for item in (STORAGE, PUBSUB) if method.startswith(f"{item.name}.")), COMPUTE)
    known = needed(Request(api=api, method=http_method, path=path.removeprefix(f"{api.path}/").removeprefix("/")))
    return set(known[0]) if known else set()


@pytest.mark.parametrize(("token", "verb"), VERBS)
def test_a_verb_works_with_exactly_the_documented_permissions(cloud, token, verb):
    denied = EVERY - {row.permission for row in rows_of(token, verb)}
    seen = {item: run(cloud, item, denied=denied, every=EVERY) for item in _runs(token, verb)}
    observed = rows(token, verb, {item: found.methods for item, found in seen.items()})

    assert {str(item): found.error for item, found in seen.items() if "Required '" in found.error} == {}
    assert {str(item) for item, found in seen.items() if found.error} == {str(item) for item in seen if item.fails}
    for method, http_method, path in set().union(*(found.calls for found in seen.values())):
        expected = {need.name for need in permissions_of(method)} if method in METHODS else set()
        assert _named(method, http_method, path) == expected
    assert observed == [row for row in table() if (row.token, row.verb) == (token, verb)], "run `make permissions`"


@pytest.mark.parametrize(("token", "verb"), VERBS)
def test_a_verb_fails_without_any_permission_that_it_always_needs_and_names_it(cloud, token, verb):
    for row in rows_of(token, verb):
        if not row.when and not row.without:
            methods = row.methods.split()
            item = _calling(cloud, _runs(token, verb), *methods)[0]
            assert _is_refused(cloud, item, row.permission, *methods), (str(item), row.permission)


@pytest.mark.parametrize(("token", "verb"), dict.fromkeys((row.token, row.verb) for row in table() if row.without))
def test_a_verb_works_without_the_permissions_that_are_only_helpful(cloud, token, verb):
    helpful = frozenset(row.permission for row in rows_of(token, verb) if row.without)
    for item in _runs(token, verb):
        error = run(cloud, item, denied=helpful, every=EVERY).error
        assert bool(error) == item.fails, (str(item), error)
        assert "Required '" not in error


@pytest.mark.parametrize(("method", "permission"), sorted(CONDITIONAL))
def test_a_permission_with_a_condition_is_needed_by_some_inputs(cloud, method, permission):
    verbs = {(row.token, row.verb) for row in table() if method in row.methods.split() and not row.without}
    runs = [item for item in RUNS if (item.token, item.verb) in verbs]

    assert any(_is_refused(cloud, item, permission, method) for item in _calling(cloud, runs, method))
