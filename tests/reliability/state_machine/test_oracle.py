"""The oracle of ownership finds each kind of what may be broken, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from engines import outside_changes
from engines.oracle import EXCEPTIONS, Cause, Oracle
from engines.promises import BrokenPromise
from engines.stack import Declared, Stack
from values.programs import IMAGE, TEMPLATE, image, template
from workspace import ROOT

PROGRAM = {"image": Declared(IMAGE, image(name="golden")), "template": Declared(TEMPLATE, template())}
GOLDEN = "projects/demo-project/global/machineImages/golden"


class Watched:
    """Two stacks of one emulator that the oracle watches; each run has one request that changes something, or none."""

    def __init__(self, cloud):
        cloud.prepare()
        self.oracle = Oracle(cloud, Counter())
        self.dev, self.prod = (Stack(cloud, stack_name=name, continues=True) for name in ("dev", "prod"))
        self.oracle.programs = {"dev": {}, "prod": {}}

    def run(self, stack, act, *, was_killed=False, tamper=lambda: None):
        self.oracle.begin(stack)
        act()
        self.oracle.observe(Cause(stack.stack_name, *stack.doing))
        tamper()
        self.oracle.judge(stack, was_killed=was_killed)

    def up(self, stack, name, **more):
        program = {name: PROGRAM[name]}
        self.oracle.programs[stack.stack_name] = program
        self.run(stack, lambda: stack.up(program), **more)

    def close(self):
        self.dev.end_plugin()
        self.prod.end_plugin()


@pytest.fixture
def watched(cloud):
    made = Watched(cloud)
    yield made
    made.close()


def test_runs_without_trouble_break_nothing(watched):
    watched.up(watched.dev, "image")
    watched.up(watched.prod, "image")
    assert watched.prod.failures, "the other stack has it"
    watched.run(watched.dev, watched.dev.refresh)
    watched.run(watched.dev, watched.dev.destroy)
    assert watched.oracle.figures == Counter({"made": 1, "deleted": 1})


def test_lost(watched):
    with pytest.raises(BrokenPromise, match=r"lost: .*golden"):
        watched.up(watched.dev, "image", tamper=watched.dev.entries.clear)


def test_what_a_killed_run_made_may_be_unknown_until_the_stack_has_settled(watched):
    watched.up(watched.dev, "image", was_killed=True, tamper=watched.dev.entries.clear)
    with pytest.raises(BrokenPromise, match=r"lost: .*golden"):
        watched.oracle.settle(watched.dev)


def test_doubled(watched):
    watched.up(watched.dev, "template", was_killed=True, tamper=watched.dev.entries.clear)
    watched.dev.cloud.emulator.operations.forget_requests()
    watched.dev.cloud.emulator.store.run("delete from operations")  # so the plugin cannot know
    with pytest.raises(BrokenPromise, match=r"doubled: .*was made again"):
        watched.up(watched.dev, "template")


def test_taken_into_a_state(watched):
    watched.up(watched.dev, "image")
    with pytest.raises(BrokenPromise, match=r"taken: .*got into the state"):
        watched.run(watched.prod, lambda: None, tamper=lambda: watched.prod.entries.extend(watched.dev.entries))


def test_taken_by_a_deletion(watched, cloud):
    watched.up(watched.dev, "image")
    watched.prod.doing = ("delete", "urn:pulumi:prod::test::gcpx:compute:MachineImage::image")
    with pytest.raises(BrokenPromise, match=r"taken: .*was deleted by"):
        watched.run(watched.prod, lambda: outside_changes.delete(cloud, GOLDEN))


def test_taken_by_a_change(watched, cloud):
    watched.up(watched.dev, "image")
    watched.prod.doing = ("update", "urn:pulumi:prod::test::gcpx:compute:MachineImage::image")
    with pytest.raises(BrokenPromise, match=r"taken: .*was changed by"):
        watched.run(watched.prod, lambda: outside_changes.edit(cloud, GOLDEN))


def test_forgotten(watched):
    watched.up(watched.dev, "image")
    with pytest.raises(BrokenPromise, match=r"forgotten: .*golden"):
        watched.run(watched.dev, lambda: None, tamper=watched.dev.entries.clear)


def test_deleted_by_a_step_that_does_not_say_so(watched, cloud):
    watched.up(watched.dev, "image")
    watched.dev.doing = ("read", watched.dev.entries[0].urn)
    with pytest.raises(BrokenPromise, match=r"deleted: .*golden"):
        watched.run(watched.dev, lambda: outside_changes.delete(cloud, GOLDEN))


@pytest.mark.parametrize("words", EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_the_documents_say_what_is_an_exception(words):
    documents = [(ROOT / "docs" / name).read_text() for name in ("reliability.md", "versions.md")]
    assert any(words in " ".join(text.split()) for text in documents)
