"""Every field that an insertion accepts comes back when the resource is read, for every kind of resource.

Each field is sent alone, beside what the kind needs; `tests/support/records/field_kinds.py` has the kinds.
"""

from __future__ import annotations

import pytest
from records.field_kinds import KINDS, OF_INSTANCES, SOURCES, body_with, fields_of, is_shown, prepare

from gcpx_emulator.core.discovery import document


@pytest.fixture
def http(http, vm):
    """A client, in a project with an instance, a disk, a snapshot, a resource policy, a machine image and a network."""
    prepare(http)
    return http


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_field_that_an_insertion_accepts_comes_back(http, kind):
    lost = {}
    for field, value in fields_of(kind).items():
        answer, read = kind.send(http, body_with(kind, field, value))
        if field in kind.not_emulated:
            assert answer.status_code == 501, field
            continue
        assert answer.status_code == 200, (field, value, answer.text)
        found = read().get(field)
        is_kept = is_shown(kind.shown.get(field, value), found)
        if is_kept == (field in kind.not_shown):
            lost[field] = (value, found)

    assert lost == {}, "fields that are not kept, or that are kept and said not to be"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_said_about_fields_names_fields_that_exist(kind):
    named = {*kind.values, *kind.beside, *kind.shown, *kind.not_shown, *kind.not_emulated}
    known = set(document(kind.api).schemas[kind.schema]["properties"])
    common = {*SOURCES, *OF_INSTANCES}

    assert named - known - common == set()
    assert all(kind.not_shown.values())
