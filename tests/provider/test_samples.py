"""Every resource has a sample with all that the suites which cover every resource run."""

from __future__ import annotations

import pytest
from samples import BY_TOKEN
from values.sample import SUITES

from gcpx.provider import RESOURCES, resource_class


@pytest.mark.parametrize("token", RESOURCES)
def test_every_resource_has_a_sample(token):
    assert token in BY_TOKEN, "no module of tests/support/samples has a sample of it"


def test_every_sample_is_of_a_resource():
    assert BY_TOKEN.keys() <= RESOURCES.keys()


@pytest.mark.parametrize("suite", sorted(SUITES))
@pytest.mark.parametrize("token", BY_TOKEN)
def test_a_sample_has_programs_for_each_suite_that_disturbs_runs(token, suite):
    programs = [program for program in BY_TOKEN[token].programs.values() if suite in program.suites]

    assert programs, f"no program is for {suite}"
    assert any(program.updates for program in programs) == ("update" in _steps(token)), "changes in place are missing"


def _steps(token):
    return {edit.step for life in BY_TOKEN[token].lives.values() for edit in life.edits}


@pytest.mark.parametrize("token", BY_TOKEN)
def test_a_sample_has_a_life_with_edits_that_replace_and_change_in_place(token):
    assert BY_TOKEN[token].changed_by, "no API method creates it"
    assert "replace" in _steps(token)
    assert "update" in _steps(token) or not resource_class(token).in_place


def test_no_two_programs_have_the_same_name():
    names = [name for sample in BY_TOKEN.values() for name in sample.programs]

    assert len(set(names)) == len(names)
