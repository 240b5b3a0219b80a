"""The declared permissions are those that the verbs need: with exactly these they work, and without any one they fail."""

from __future__ import annotations

import re

import pytest
import yaml
from generate.verb_calls import CALLS
from verb_runs import VerbRun, run
from verb_scenarios import RUNS
from workspace import ROOT

from gcpx.gcp.permissions import METHODS
from gcpx.provider import FUNCTIONS, RESOURCES
from gcpx_emulator.core.permissions import PERMISSIONS

EITHER = (
    {"compute.disks.create", "compute.instances.create", "compute.instances.pscInterfaceCreate"},
    {"compute.disks.update", "compute.instances.setDiskAutoDelete"},
    {"compute.disks.use", "compute.disks.useReadOnly"},
    {"compute.networks.use", "compute.networks.useExternalIp"},
    {"compute.subnetworks.use", "compute.subnetworks.useExternalIp"},
)
"""Permissions of which Google's reference requires "one or more", so that the emulator accepts any of them.

Which one Google checks depends on the request, so users need all that apply.
"""
EVERY = frozenset(PERMISSIONS)
VERBS = [(token, verb) for token, verbs in CALLS.items() for verb in verbs]
CONDITIONAL = [
    (method, need.permission)
    for method in dict.fromkeys(name for verbs in CALLS.values() for calls in verbs.values() for name in calls.always)
    for need in METHODS[method].needs
    if need.when
]


def _runs(token: str, verb: str) -> list[VerbRun]:
    return [item for item in RUNS if (item.token, item.verb) == (token, verb)]


def _needed(methods):
    return {need.permission for name in methods for need in METHODS[name].needs}


_SEEN: dict[str, frozenset[str]] = {}
"""The methods that each run called; what a run calls does not change."""


def _calling(cloud, method, verbs):
    """Return the runs of some verbs that call a method."""
    runs = [item for key in verbs for item in _runs(*key)]
    for item in runs:
        if str(item) not in _SEEN:
            _SEEN[str(item)] = run(cloud, item).methods
    return [item for item in runs if method in _SEEN[str(item)]]


def _is_refused(cloud, item, permission):
    """Return whether a verb fails without a permission, and says so."""
    alternatives = frozenset({permission}.union(*(group for group in EITHER if permission in group))) & EVERY
    error = run(cloud, item, denied=alternatives, every=EVERY).error
    return any(f"'{name}'" in error for name in alternatives)


def test_the_roles_of_the_page_hold_all_permissions():
    text = (ROOT / "docs" / "permissions.md").read_text()
    roles = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    *single, everything = (set(role["includedPermissions"]) for role in roles)
    elsewhere = {"iam.serviceAccounts.actAs", "serviceusage.services.use"}

    assert everything == set().union(*single) == _needed(METHODS) - elsewhere
    assert all(f"`{name}`" in text.split("## Granted elsewhere")[1] for name in elsewhere)


def test_the_emulator_checks_every_declared_permission():
    assert _needed(METHODS) - EVERY == set()


def test_every_verb_of_every_resource_and_every_function_is_declared_and_run():
    assert CALLS.keys() == {*RESOURCES, *FUNCTIONS}
    assert {(item.token, item.verb) for item in RUNS} == set(VERBS)


def test_every_declared_method_is_called():
    assert len({str(item) for item in RUNS}) == len(RUNS), "the names of runs tell them apart"
    assert METHODS.keys() == {name for verbs in CALLS.values() for calls in verbs.values() for name in calls.methods}


@pytest.mark.parametrize(("token", "verb"), VERBS)
def test_a_verb_calls_the_declared_methods_and_works_with_exactly_their_permissions(cloud, token, verb):
    calls = CALLS[token][verb]
    denied = EVERY - _needed(calls.methods)
    seen = {str(item): run(cloud, item, denied=denied, every=EVERY) for item in _runs(token, verb)}
    failed = {str(item) for item in _runs(token, verb) if item.fails}

    assert {name: found.error for name, found in seen.items() if "Required '" in found.error} == {}
    assert {name for name, found in seen.items() if found.error} == failed
    assert set().union(*(found.methods for found in seen.values())) == set(calls.methods)


@pytest.mark.parametrize(("token", "verb"), VERBS)
def test_a_verb_fails_without_any_of_its_permissions_and_names_it(cloud, token, verb):
    always = CALLS[token][verb].always
    needs = {need.permission: name for name in always for need in METHODS[name].needs if not need.when}
    for permission, method in needs.items():
        item = _calling(cloud, method, [(token, verb)])[0]
        assert _is_refused(cloud, item, permission), (str(item), permission)


@pytest.mark.parametrize(("token", "verb"), [key for key in VERBS if CALLS[key[0]][key[1]].helpful])
def test_a_verb_works_without_the_permissions_that_are_only_helpful(cloud, token, verb):
    calls = CALLS[token][verb]
    helpful = frozenset(_needed(calls.helpful) - _needed(calls.always))
    for item in _runs(token, verb):
        error = run(cloud, item, denied=helpful, every=EVERY).error
        assert bool(error) == item.fails, (str(item), error)
        assert "Required '" not in error


@pytest.mark.parametrize(("method", "permission"), CONDITIONAL)
def test_a_permission_with_a_condition_is_needed_by_some_inputs(cloud, method, permission):
    verbs = [key for key in VERBS if method in CALLS[key[0]][key[1]].always]

    assert any(_is_refused(cloud, item, permission) for item in _calling(cloud, method, verbs))
