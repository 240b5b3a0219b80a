"""Threads of calls and requests: one does several pieces of work, and the operating system may refuse one."""

from __future__ import annotations

import threading
import weakref

import grpc
import pytest
from engines.clock import HANGS
from engines.driver import rpc, struct
from engines.plugin_process import plugin_process
from google.protobuf import empty_pb2
from values.programs import NOTIFICATION, PROJECT, notification

from gcpx.threads import Threads


def test_a_cancellation_reaches_calls_for_which_no_thread_can_be_started(cloud):
    with plugin_process(project=PROJECT, emulatorHost=cloud.host) as plugin:
        engine = plugin.engine
        inputs = struct(engine.checked(NOTIFICATION, "uploads", notification()))
        request = rpc.CreateRequest(urn=engine.urn(NOTIFICATION, "uploads"), properties=inputs)
        with plugin.without_new_threads():
            calls = [engine.stub.Create.future(request, timeout=HANGS) for _ in range(30)]
            engine.stub.Cancel(empty_pb2.Empty(), timeout=HANGS)
            ends = [call.exception(HANGS) for call in calls]
        still_answers = engine.stub.GetPluginInfo(empty_pb2.Empty(), timeout=HANGS).version

    assert {end.code() for end in ends} == {grpc.StatusCode.CANCELLED}
    assert still_answers
    assert cloud.calls() == []


def test_work_that_was_refused_a_thread_takes_one_whose_work_has_ended(monkeypatch):
    threads, release, start = Threads(), threading.Event(), threading.Thread.start
    first = threads.submit(release.wait, HANGS)  # in the thread that a pool begins with

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    second = threads.submit(pow, 2, 3)
    monkeypatch.setattr(threading.Thread, "start", start)
    assert threads.submit(pow, 2, 4).result(HANGS) == 16
    release.set()
    assert (first.result(HANGS), second.result(HANGS)) == (True, 8)


def test_a_long_wait_delays_no_other_work():
    threads, release = Threads(), threading.Event()
    waiting = [threads.submit(release.wait, HANGS) for _ in range(50)]
    assert threads.submit(pow, 2, 3).result(HANGS) == 8
    release.set()
    assert all(work.result(HANGS) for work in waiting)


def test_an_idle_thread_keeps_nothing_of_its_last_work():
    class Work:
        """Work that a weak reference can point to."""

        def __call__(self) -> None:
            """Do nothing."""

    threads, gone = Threads(), threading.Event()
    work = Work()
    weakref.finalize(work, gone.set)
    threads.submit(work)
    del work
    assert gone.wait(HANGS)


def test_an_error_is_raised_where_the_result_is_awaited():
    with pytest.raises(ZeroDivisionError):
        Threads().submit(divmod, 1, 0).result(HANGS)
