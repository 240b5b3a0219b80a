"""The records that the page of the emulator's methods is made from say what is so.

The methods that Google's libraries call are compared after each test of the emulator, in `conftest.py`.
"""

from __future__ import annotations

import pytest
from generate.emulator_record import read_fields
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
