"""The scope of each API is the narrowest that all of its calls accept, by Google's descriptions of the APIs.

Holds settings.md: "gcpx requests a token for each API".
"""

from __future__ import annotations

import json
from importlib import resources

import pytest

from gcpx.gcp.request import COMPUTE, OSLOGIN, PUBSUB, STORAGE

CALLED = {
    COMPUTE: ("compute.v1", ("compute.instances.", "compute.instanceTemplates.", "compute.machineImages.")),
    STORAGE: ("storage.v1", ("storage.notifications.", "storage.buckets.list", "storage.projects.serviceAccount.get")),
    OSLOGIN: ("oslogin.v1alpha", ("oslogin.users.sshPublicKeys.", "oslogin.users.importSshPublicKey")),
    PUBSUB: ("pubsub.v1", ("pubsub.projects.topics.get",)),
}
BREADTH = ("cloud-platform", "devstorage.full_control", "devstorage.read_write", "compute", "pubsub")
"""The scopes that can write, the widest first."""


def _methods(description):
    yield from description.get("methods", {}).values()
    for below in description.get("resources", {}).values():
        yield from _methods(below)


@pytest.mark.parametrize("api", CALLED, ids=lambda api: api.name)
def test_a_scope_is_the_narrowest_that_all_calls_accept(api):
    name, prefixes = CALLED[api]
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    methods = _methods(json.loads((folder / f"{name}.json").read_text()))
    accepted = [
        {scope.rpartition("/")[2] for scope in method.get("scopes", ())}
        for method in methods
        if method["id"].startswith(prefixes)
    ]
    common = set.intersection(*accepted) & set(BREADTH)

    assert api.scope.rpartition("/")[2] == max(common, key=BREADTH.index)
