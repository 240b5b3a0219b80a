"""A forced replacement may leave two entries of one ID in the state; what exists belongs to the newer one.

The engine calls Create, and then Delete for the old entry. If the run ends in between, the old entry stays in the
state, and a later run deletes it.

Holds reliability.md: "A number does"; "the number in another resource of this stack".
"""

from __future__ import annotations

import attrs
import pytest
from engines import driver
from engines.driver import failing
from engines.stack import PROVIDER_ID
from samples import SAMPLES
from values.programs import ATTACHMENT, BUCKET, KEY, NOTIFICATION, PROJECT, VM, attachment, notification

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
LIVES = {name: (sample.token, life) for sample in SAMPLES.values() for name, life in sample.lives.items()}
IN_EITHER_ORDER = pytest.mark.parametrize("newest_first", [False, True])
pytestmark = pytest.mark.usefixtures("vm")


@pytest.fixture(params=LIVES)
def token_and_life(request):
    return LIVES[request.param]


@pytest.fixture
def engine(clocked_engine, cloud):
    """An engine that names the provider, as the CLI does, so that operations show what belongs to the stack."""
    clocked_engine.provider_id = PROVIDER_ID
    clocked_engine.configure(project=PROJECT, emulatorHost=cloud.host)
    return clocked_engine


def _replaced(engine, cloud, token, life):
    """Create a resource, remove it at Google, and create it again in a run that ends before it deletes the old entry.

    Returns the old and the new entry of the state.
    """
    old = engine.create(token, "x", life.inputs)
    life.remove(cloud)
    engine.next_run()
    return old, engine.create(token, "x", life.inputs)


def _refresh(engine, entry):
    """Refresh an entry of the state, as the engine does; return it, or None if it leaves the state."""
    live = engine.refresh(entry)
    if live is not None:
        engine.diff_checked(live, entry.inputs)
    return live


def _refresh_both(engine, old, new, *, newest_first):
    """Refresh both entries in an order, and return them in the other one."""
    if newest_first:
        new = _refresh(engine, new)
        return _refresh(engine, old), new
    old = _refresh(engine, old)
    return old, _refresh(engine, new)


def _warnings(engine):
    return [text for severity, _, text in engine.log.messages if severity == "WARNING"]


def _assert_kept(engine, new):
    """Assert that what exists is still there, and that the user is not told of anything."""
    assert engine.refresh(new) == new
    assert _warnings(engine) == []


def test_a_forced_replacement_of_what_is_gone_keeps_the_new_one(engine, cloud, token_and_life):
    old, new = _replaced(engine, cloud, *token_and_life)
    engine.delete(old)

    _assert_kept(engine, new)
    engine.delete(new)
    assert engine.is_gone(new)


def test_a_later_run_that_deletes_the_old_entry_keeps_the_new_one(engine, cloud, token_and_life):
    old, new = _replaced(engine, cloud, *token_and_life)
    engine.next_run()
    assert engine.diff_checked(new, new.inputs).changes == NO_CHANGE
    engine.delete(old)

    _assert_kept(engine, new)


@IN_EITHER_ORDER
def test_a_refresh_of_both_entries_keeps_the_new_one(engine, cloud, token_and_life, newest_first):
    entries = _replaced(engine, cloud, *token_and_life)
    engine.next_run()
    old, new = _refresh_both(engine, *entries, newest_first=newest_first)
    assert engine.diff(new, new.inputs).changes == NO_CHANGE
    if old is not None:
        engine.delete(old)

    _assert_kept(engine, new)


@IN_EITHER_ORDER
def test_a_destruction_of_both_entries_deletes_with_the_last_one(engine, cloud, token_and_life, newest_first):
    entries = _replaced(engine, cloud, *token_and_life)
    engine.next_run()
    old, new = _refresh_both(engine, *entries, newest_first=newest_first)
    first, last = (new, old) if newest_first and old is not None else (old, new)
    if first is not None:
        engine.delete(first)

    _assert_kept(engine, last)
    engine.delete(last)
    assert engine.is_gone(last)


def test_a_destruction_without_a_refresh_deletes(engine, cloud, token_and_life):
    old, new = _replaced(engine, cloud, *token_and_life)
    engine.next_run()
    engine.delete(old)
    engine.delete(new)

    assert engine.is_gone(new)


def _partial(engine, cloud, token, inputs, method):
    """Create a resource that cannot be read afterwards; return its entry."""
    if token == KEY:
        cloud.fail(method, delay=0.0)  # a key is also read before its creation
    cloud.fail(method, times=1000, status=403)
    with failing() as failed:
        engine.create(token, "x", inputs)
    cloud.emulator.faults.queue.clear()
    return _kept(engine, token, failed[0].partial)


def _made_partially(engine, cloud, token, inputs, method):
    """Create a resource that cannot be read afterwards, and finish its creation; return its entry."""
    return engine.update(_partial(engine, cloud, token, inputs, method), inputs)


def _kept(engine, token, partial):
    """Return the entry that the engine makes of a partial creation."""
    return driver.Resource(
        engine.urn(token, "x"), partial.id, driver.plain(partial.inputs), driver.plain(partial.properties)
    )


PARTIAL = {
    "attachment": (ATTACHMENT, LIVES["attachment"][1], "compute.instances.get"),
    "key": (KEY, LIVES["key"][1], "oslogin.users.sshPublicKeys.get"),
}


@IN_EITHER_ORDER
@pytest.mark.parametrize(("name", "is_gone"), [("attachment", False), ("attachment", True), ("key", True)])
def test_an_old_entry_that_was_made_partially_does_not_delete_what_the_new_one_has(
    engine, cloud, name, is_gone, newest_first
):
    token, life, method = PARTIAL[name]
    old = _made_partially(engine, cloud, token, life.inputs, method)
    if is_gone:
        life.remove(cloud)
    engine.next_run()
    new = engine.create(token, "x", life.inputs)
    engine.next_run()
    old, new = _refresh_both(engine, old, new, newest_first=newest_first)
    assert engine.diff(new, new.inputs).changes == NO_CHANGE
    engine.delete(old)

    assert engine.refresh(new) == new
    assert ["was not replaced" in text for text in _warnings(engine)] == [True] * (not is_gone)


def _replaced_partially(engine, cloud):
    """Create an attachment, and force its replacement, which finds the old one but cannot read it; return both entries.

    The new entry has another ID than the old one, which has the device name in it.
    """
    old = engine.create(ATTACHMENT, "x", attachment())
    engine.next_run()
    new = _partial(engine, cloud, ATTACHMENT, attachment(), "compute.instances.get")
    assert old.id != new.id
    return old, new


def test_a_partial_replacement_keeps_what_it_may_have_made_in_the_same_run(engine, cloud):
    """The engine deletes the old entry in the same run with `--continue-on-error`."""
    old, new = _replaced_partially(engine, cloud)
    engine.delete(old)

    assert engine.refresh(new) is not None
    assert ["was not replaced" in text for text in _warnings(engine)] == [True]


def test_the_old_entry_of_a_partial_replacement_does_not_delete_what_the_new_one_has(engine, cloud):
    old, new = _replaced_partially(engine, cloud)
    engine.next_run()
    new = engine.update(new, attachment())
    assert engine.diff(new, new.inputs).changes == NO_CHANGE
    engine.delete(old)

    assert engine.refresh(new) is not None
    assert ["was not replaced" in text for text in _warnings(engine)] == [True]


def test_a_forced_replacement_of_what_was_made_partially_keeps_it(engine, cloud):
    old = _made_partially(engine, cloud, ATTACHMENT, attachment(), "compute.instances.get")
    engine.next_run()
    new = engine.create(ATTACHMENT, "x", attachment())
    assert old.id != new.id
    engine.delete(old)

    assert engine.refresh(new) == new
    assert ["was not replaced" in text for text in _warnings(engine)] == [True]


def test_a_forced_replacement_of_a_notification_whose_creation_came_to_nothing_keeps_the_new_one(clocked_engine, cloud):
    """The old entry has a provisional ID, under which its deletion looks for an equal configuration."""
    cloud.fail("storage.notifications.insert", drop="before", times=1000)
    with failing() as failed:
        clocked_engine.create(NOTIFICATION, "x", notification())
    cloud.emulator.faults.queue.clear()
    old = _kept(clocked_engine, NOTIFICATION, failed[0].partial)
    new = clocked_engine.create(NOTIFICATION, "x", notification())
    clocked_engine.delete(old)

    assert clocked_engine.refresh(new) == new


@IN_EITHER_ORDER
def test_a_replacement_that_deletes_first_deletes_although_an_old_entry_is_left(engine, cloud, newest_first):
    entries = _replaced(engine, cloud, *LIVES["attachment"])
    engine.next_run()
    old, new = _refresh_both(engine, *entries, newest_first=newest_first)
    changed = {**new.inputs, "mode": "READ_ONLY"}
    assert engine.diff(new, changed).deleteBeforeReplace
    engine.checked(ATTACHMENT, "x", changed)  # as the engine does before a replacement
    engine.delete(new)
    assert engine.is_gone(new)

    made = engine.create(ATTACHMENT, "x", changed)
    engine.delete(old)
    _assert_kept(engine, made)


def test_a_renamed_resource_that_is_gone_and_forcibly_replaced_keeps_the_new_one(engine, cloud):
    token, life = LIVES["attachment"]
    old = engine.create(token, "former", life.inputs)
    life.remove(cloud)
    engine.next_run()
    new = engine.create(token, "x", life.inputs)
    engine.delete(old)

    assert engine.refresh(new) == new


def test_an_entry_of_a_state_without_marks_does_not_delete_what_the_new_one_has(engine, cloud, token_and_life):
    old, new = _replaced(engine, cloud, *token_and_life)
    engine.delete(attrs.evolve(old, outputs=driver.without_hidden(old.outputs)))

    _assert_kept(engine, new)


def test_an_entry_that_is_gone_keeps_nothing(engine, cloud):
    token, life = LIVES["key"]
    gone = engine.create(token, "former", life.inputs)
    life.remove(cloud)
    assert engine.is_gone(gone)
    other = engine.create(token, "x", life.inputs)
    engine.delete(other)

    assert engine.is_gone(other)
    assert _warnings(engine) == []


def _fail_to_read_an_attachment(cloud):
    cloud.fail("compute.instances.get", status=403, times=1000)


def _lose_the_number_of_a_notification(cloud):
    cloud.fail("storage.notifications.insert", drop="after")
    cloud.fail("storage.notifications.list", delay=0.0)  # the first list comes before the insertion
    cloud.fail("storage.notifications.list", status=503, times=1000)


@pytest.mark.parametrize(
    ("token", "inputs", "trouble", "imported"),
    [
        (ATTACHMENT, attachment(), _fail_to_read_an_attachment, f"{VM}/persistent-disk-0"),
        (NOTIFICATION, notification(), _lose_the_number_of_a_notification, f"{BUCKET}/notificationConfigs/1"),
    ],
)
def test_what_another_resource_has_under_another_form_of_the_id_is_kept(
    clocked_engine, cloud, token, inputs, trouble, imported
):
    trouble(cloud)
    with failing() as failed:
        clocked_engine.create(token, "first", inputs)
    cloud.emulator.faults.queue.clear()
    left = driver.Resource(
        clocked_engine.urn(token, "first"), failed[0].partial.id, inputs, driver.plain(failed[0].partial.properties)
    )
    first = clocked_engine.update(left, inputs)
    second = clocked_engine.import_(token, "second", imported)
    assert first.id != second.id
    clocked_engine.next_run()
    clocked_engine.diff_checked(second, second.inputs)
    clocked_engine.delete(first)

    assert clocked_engine.refresh(second) is not None
    assert [
        said for _, _, said in clocked_engine.log.messages if "the resource second of this stack manages it" in said
    ]
