"""SshKey: keys that exist already, keys that Google returns late, accounts and fingerprints.

Holds reliability.md: "Google does not show which request"; "So gcpx takes one over"; "If somebody adds the same key
again".
"""

from __future__ import annotations

import json

import pytest
from engines import driver
from engines.driver import failing
from values.programs import EXPIRY, FINGERPRINT, KEY, PROJECT, USER, key

BUSY = json.dumps(
    {
        "error": {
            "code": 409,
            "message": "Multiple concurrent mutations were attempted. Please retry the request.",
            "status": "ABORTED",
        }
    }
)
"""What OS Login answers while another request changes the same profile: github.com/GoogleCloudPlatform/cluster-toolkit/issues/5038."""
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
CREATE = "oslogin.users.sshPublicKeys.create"
IMPORT = "oslogin.users.importSshPublicKey"


def test_a_lost_response_leads_to_one_key_and_a_message(engine, cloud):
    cloud.fail(CREATE, drop="after")

    assert engine.create(KEY, "k", key()).id == f"users/{USER}/sshPublicKeys/{FINGERPRINT}"
    (said,) = [text for _, _, text in engine.log.messages if "taken over" in text]
    assert said.startswith(f"users/{USER}/sshPublicKeys/{FINGERPRINT} is taken over: the response to the request")


def test_the_same_key_that_somebody_adds_again_counts_as_ours(engine, cloud):
    created = engine.create(KEY, "k", key())
    cloud.delete(created.id)
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(KEY, "k", key())

    assert engine.drift(created) == set()
    engine.delete(created)
    assert cloud.get(created.id) is None


@pytest.mark.parametrize("is_gone", [True, False])
def test_an_update_says_that_the_key_is_gone_only_if_a_read_shows_it(engine, cloud, is_gone):
    created = engine.create(KEY, "k", key())
    if is_gone:
        cloud.delete(created.id)
    else:
        cloud.fail("oslogin.users.sshPublicKeys.patch", status=404, message="no such page")
    with failing() as failed:
        engine.update(created, key(expirationTimeUsec=EXPIRY))

    words = f"{created.id} no longer exists; run `pulumi up --refresh` to create it again"
    assert (failed[0].message == words) == is_gone
    assert is_gone or "no such page" in failed[0].message


@pytest.mark.parametrize("written", ["2030-12-31T23:59:59Z", "2031-01-01T00:59:59.000+01:00", "2030-12-31t23:59:59z"])
def test_an_expiration_may_be_a_time(engine, cloud, written):
    created = engine.create(KEY, "k", key(expirationTimeUsec=written))
    assert created.inputs["expirationTimeUsec"] == cloud.get(created.id)["expirationTimeUsec"] == EXPIRY
    assert dict(engine.diff(created, key(expirationTimeUsec=EXPIRY)).detailedDiff) == {}
    assert engine.drift(created) == set()


@pytest.mark.parametrize("passed", ["1600000000000000", "2020-09-13T12:26:40Z"])
def test_a_new_key_that_has_expired_is_refused_in_the_preview_and_an_existing_one_is_not(engine, cloud, passed):
    assert "must be in the future" in engine.failures(KEY, key(expirationTimeUsec=passed))["expirationTimeUsec"]
    created = engine.create(KEY, "k", key())
    assert engine.checked(
        KEY, "k", key(expirationTimeUsec=passed), olds=created.inputs | {"expirationTimeUsec": passed}
    )


@pytest.mark.parametrize(
    "written",
    ["1970-01-01T00:00:00Z", "1960-01-01T00:00:00Z", "2030-02-30T00:00:00Z", "2030-12-31T23:59:60Z", "\u0663" * 16],
)
def test_a_time_that_is_none_or_that_would_mean_never_is_refused(engine, written):
    assert set(engine.failures(KEY, key(expirationTimeUsec=written))) == {"expirationTimeUsec"}


@pytest.mark.parametrize(("written", "words"), [
    (EXPIRY[:-6], "seems to be in seconds, so add six zeros"),
    (EXPIRY[:-3], "seems to be in milliseconds, so add three zeros"),
    (f"{EXPIRY}000", "seems to be in nanoseconds, so leave out the last three digits"),
    ("1970-01-01T00:30:00Z", "must be in microseconds, and not before September 2001"),
])  # fmt: skip
def test_an_expiration_in_another_unit_is_refused_with_the_unit(engine, written, words):
    assert words in engine.failures(KEY, key(expirationTimeUsec=written))["expirationTimeUsec"]


@pytest.mark.parametrize("more", [{}, {"expirationTimeUsec": EXPIRY}, {"projectId": PROJECT}])
def test_an_existing_key_is_not_taken_over_because_it_may_be_another_stacks(engine, cloud, more):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(KEY, "k", key())
    with failing() as failed:
        engine.create(KEY, "other", key(**more))

    assert failed[0].partial is None
    assert f"pulumi import {KEY} other users/{USER}/sshPublicKeys/{FINGERPRINT}" in failed[0].message


@pytest.mark.parametrize("more", [{}, {"projectId": PROJECT}])
def test_changes_are_repeated_while_another_request_changes_the_profile(clocked_engine, cloud, more):
    changes = (CREATE, IMPORT), ("oslogin.users.sshPublicKeys.patch",), ("oslogin.users.sshPublicKeys.delete",)
    for method in (changes[0][bool(more)], *changes[1], *changes[2]):
        cloud.fail(method, status=409, body=BUSY)
    created = clocked_engine.create(KEY, "k", key(**more))
    updated = clocked_engine.update(created, key(expirationTimeUsec=EXPIRY, **more))
    clocked_engine.delete(updated)

    assert cloud.emulator.faults.queue == []
    assert cloud.get(f"users/{USER}/sshPublicKeys/{FINGERPRINT}") is None


def test_a_key_that_google_returns_late_is_waited_for(engine, cloud):
    cloud.fail("oslogin.users.sshPublicKeys.get", status=404, times=2)

    assert engine.create(KEY, "k", key()).outputs["fingerprint"] == FINGERPRINT


def test_a_key_with_a_project_sets_up_its_account(engine, cloud):
    inputs = key(projectId=PROJECT, regions=["us-east1"])
    created = engine.create(KEY, "k", inputs)

    assert cloud.calls("oslogin.users.import") == [IMPORT]
    assert cloud.requests(IMPORT)[0]["query"]["projectId"] == PROJECT
    assert engine.diff(created, inputs).changes == NO_CHANGE


def test_another_project_sets_up_another_account_in_place(engine, cloud):
    created = engine.create(KEY, "k", key())
    updated = engine.update(created, key(projectId=PROJECT))

    assert updated.outputs["projectId"] == PROJECT
    assert cloud.calls("oslogin.users.import") == [IMPORT]


def test_the_expiration_is_set_and_removed_in_place(engine, cloud):
    created = engine.create(KEY, "k", key())
    assert engine.update(created, key(expirationTimeUsec=EXPIRY)).outputs["expirationTimeUsec"] == EXPIRY
    removed = engine.update(created, key())

    assert "expirationTimeUsec" not in cloud.get(created.id)
    assert engine.drift(removed) == set()


def test_a_key_of_another_user_asks_for_impersonation(engine, cloud):
    cloud.fail(CREATE, status=403, message="denied")
    with failing() as failed:
        engine.create(KEY, "k", key())

    assert (
        f"Only {USER} can manage keys of {USER}: use its credentials, or set gcpx:impersonateServiceAccount"
        in failed[0].message
    )


@pytest.mark.parametrize("fingerprint", ["SHA256:abc+def=", "0a", "Z9"])
def test_a_fingerprint_of_any_form_can_be_read_imported_and_deleted(engine, cloud, fingerprint):
    created = engine.create(KEY, "k", key())
    stored = cloud.get(created.id)
    name = f"users/{USER}/sshPublicKeys/{fingerprint}"
    cloud.emulator.store.put(name, {**stored, "fingerprint": fingerprint, "name": name})
    found = engine.import_(KEY, "k", name)

    assert found.outputs["fingerprint"] == fingerprint
    assert engine.refresh(found) == found
    engine.delete(found)
    assert cloud.get(name) is None


@pytest.mark.parametrize(
    "text", ["ssh-ed25519", "ssh-ed25519 !!!", "x" * 50, "-----BEGIN OPENSSH PRIVATE KEY-----", "ssh-rsa AAAA"]
)
def test_a_text_that_is_not_a_public_key_is_refused_with_what_is_required(engine, text):
    (reason,) = engine.failures(KEY, key(key=text)).values()

    assert reason.startswith("must ")


def test_a_key_in_the_form_of_metadata_is_refused_with_what_to_leave_out(engine):
    text = f"alice:{key()['key']}"

    assert engine.failures(KEY, key(key=text)) == {
        "key": "must begin with ssh-ed25519: leave out the user name and the colon before it"
    }


@pytest.mark.parametrize("wrong", ["", USER, "users//sshPublicKeys/x"])
def test_an_incomplete_id_is_refused_with_the_allowed_forms(engine, wrong):
    with failing() as failed:
        engine.import_(KEY, "k", wrong)

    assert "users/USER/sshPublicKeys/FINGERPRINT" in failed[0].message


@pytest.mark.parametrize(("theirs", "is_taken"), [({}, True), ({"expirationTimeUsec": EXPIRY}, False)])
def test_a_key_that_exists_after_a_lost_attempt_is_ours_if_it_expires_as_this_request_says(
    engine, cloud, theirs, is_taken
):
    def add(number, request):
        if number == 3:  # after the look, and an attempt that came to nothing
            assert request.startswith("POST ")
            cloud.emulator.store.put(path, {"key": key()["key"], "fingerprint": FINGERPRINT, "name": path, **theirs})

    path = f"users/{USER}/sshPublicKeys/{FINGERPRINT}"
    cloud.fail(CREATE, drop="before")
    with cloud.interceptor.observed(add):
        if is_taken:
            assert engine.create(KEY, "k", key()).id == path
            return
        with failing() as failed:
            engine.create(KEY, "k", key())

    assert failed[0].partial is None
    assert f"pulumi import {KEY} k {path}" in failed[0].message
    assert cloud.get(path)["expirationTimeUsec"] == EXPIRY


def test_a_key_that_somebody_adds_after_the_look_is_not_taken_over(engine, cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(KEY, "k", key())
    cloud.fail("oslogin.users.sshPublicKeys.get", status=404)
    cloud.fail(CREATE, status=409)
    with failing() as failed:
        engine.create(KEY, "other", key())

    assert failed[0].partial is None
    assert "exists already and was not created by this resource" in failed[0].message
