"""The records that the page of the emulator's methods is made from say what is so.

The methods that Google's libraries call are compared after each test of the emulator, in `conftest.py`.
"""

from __future__ import annotations

import pytest
from generate.emulator_record import TAKEN, read_fields
from records.client_record import GCPX, TERRAFORM, of_gcpx, of_terraform, recorded
from records.field_kinds import prepare
from records.field_record import CHANGES, observed_change, observed_insertions

RECORDED = read_fields()


@pytest.fixture
def http(http, vm):
    """A client, in a project with an instance, a disk, a resource policy and a machine image."""
    prepare(http)
    return http


def test_the_record_of_insertions_is_current(http):
    found = sorted(observed_insertions(http))
    methods = {row.method for row in found}

    assert [row for row in sorted(RECORDED) if row.method in methods] == found, "run `make emulator-record`"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.method)
def test_the_record_of_a_change_is_current(http, change):
    found = sorted(observed_change(http, change))

    assert [row for row in sorted(RECORDED) if row.method == change.method] == found, "run `make emulator-record`"


def test_nothing_else_is_recorded(http):
    observed = {change.method for change in CHANGES} | {row.method for row in observed_insertions(http)}

    assert {row.method for row in RECORDED} == observed


def test_the_record_of_clients_is_current(cloud):
    found = recorded()

    assert {method for method, client in found if client == GCPX} == of_gcpx(cloud), "run `make emulator-record`"
    assert {method for method, client in found if client == TERRAFORM} == of_terraform(), "run `make emulator-record`"


CONDITIONS = frozenset({"fingerprint", "labelFingerprint"})
"""Fields that must be those of the resource, so that a change overwrites no other."""
ANSWERED = "the answer follows from it"
OWN_KEY = "it must be the key that protects the disk or the suspended data"
DROPPED = {
    **{
        f"compute.advice.capacity {field}": ANSWERED
        for field in ("distributionPolicy", "instanceFlexibilityPolicy", "instanceProperties", "size")
    },
    "cloudresourcemanager.projects.getIamPolicy options": "it says which policies the client can read",
    "cloudresourcemanager.projects.testIamPermissions permissions": ANSWERED,
    "compute.images.patch sourceType": "it has a single value",
    "compute.instances.addAccessConfig type": "it has a single value for this kind of address",
    "compute.instances.attachDisk diskSizeGb": "it must be the size of the disk",
    "compute.instances.attachDisk forceAttach": "it says how the disk is attached",
    "compute.instances.resume disks": OWN_KEY,
    "compute.instances.resume instanceEncryptionKey": OWN_KEY,
    "compute.instances.startWithEncryptionKey disks": OWN_KEY,
    "compute.instances.update name": "the value that is sent is the current one",
    "compute.instances.update params": "the description says: input only",
    "compute.instances.update shieldedInstanceConfig": "the value that is sent is the current one",
    "compute.instances.update shieldedInstanceIntegrityPolicy": "the value that is sent is the current one",
    "compute.networks.patch networkFirewallPolicyEnforcementOrder": "the value that is sent is the default",
    "compute.reservations.insert zone": "the URL says it",
    "compute.subnetworks.patch ipCidrRange": "not yet refused",
    "iamcredentials.projects.serviceAccounts.generateIdToken audience": "the token has it",
    "iamcredentials.projects.serviceAccounts.generateIdToken delegates": "it says whose permissions count",
    "iamcredentials.projects.serviceAccounts.generateIdToken includeEmail": "the token shows it",
    "oslogin.users.sshPublicKeys.patch key": "only the comment of the key differs",
    "pubsub.projects.snapshots.testIamPermissions permissions": ANSWERED,
    "pubsub.projects.subscriptions.acknowledge ackIds": "they name what is acknowledged",
    "pubsub.projects.subscriptions.modifyAckDeadline ackDeadlineSeconds": "a later delivery shows it",
    "pubsub.projects.subscriptions.modifyAckDeadline ackIds": "they name what is changed",
    "pubsub.projects.subscriptions.pull maxMessages": ANSWERED,
    "pubsub.projects.subscriptions.pull returnImmediately": ANSWERED,
    "pubsub.projects.subscriptions.seek snapshot": "later deliveries show it",
    "pubsub.projects.subscriptions.seek time": "later deliveries show it",
    "pubsub.projects.subscriptions.testIamPermissions permissions": ANSWERED,
    "pubsub.projects.topics.testIamPermissions permissions": ANSWERED,
    "storage.buckets.setIamPolicy kind": "only Google sets it",
    "storage.buckets.setIamPolicy resourceId": "only Google sets it",
    "storage.buckets.setIamPolicy version": "it follows from the bindings",
    "storage.objects.copy name": "the URL says it",
    "storage.objects.patch name": "the URL says it",
    "storage.objects.rewrite name": "the URL says it",
    "storage.objects.update name": "the URL says it",
}
"""The other fields that are accepted and that no read shows, each with the reason."""


def test_what_is_taken_and_not_shown_has_a_reason():
    taken = {f"{row.method} {row.field}" for row in RECORDED if row.outcome == TAKEN and row.field not in CONDITIONS}

    assert taken == DROPPED.keys()
