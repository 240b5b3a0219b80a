"""Threads of calls and requests: one does several pieces of work, and the operating system may refuse one."""

from __future__ import annotations

import threading
import weakref

import grpc
from engines.clock import HANGS
from engines.driver import rpc, struct
from engines.plugin_process import plugin_process
from google.protobuf import empty_pb2
from values.programs import NOTIFICATION, PROJECT, notification

from gcpx.threads import CallThreads, Threads


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


def test_calls_go_on_after_a_thread_was_refused(monkeypatch):
    pool, release, refused, start = CallThreads(), threading.Event(), [], threading.Thread.start
    first = [pool.submit(release.wait, HANGS) for _ in range(16)]

    def refuse_once(thread: threading.Thread) -> None:
        if not refused:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_once)
    later = [pool.submit(pow, 2, number) for number in range(5)]
    assert [result.result(timeout=HANGS) for result in later] == [1, 2, 4, 8, 16]
    release.set()
    assert all(result.result(timeout=HANGS) for result in first)
    assert len(refused) == 1


def test_work_that_waits_for_a_thread_takes_one_that_has_become_idle(monkeypatch):
    threads, refused, release, done = Threads(), threading.Event(), threading.Event(), threading.Event()
    threads.run(lambda: release.wait(HANGS))
    submitting = threading.Thread(target=lambda: refused.wait(HANGS) and threads.run(done.set), daemon=True)
    submitting.start()
    refusals = threading.Semaphore(0)

    def refuse(_: threading.Thread) -> None:
        refusals.release()
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    refused.set()
    assert refusals.acquire(timeout=HANGS)
    release.set()
    assert done.wait(HANGS)
    submitting.join(HANGS)


def test_an_idle_thread_keeps_nothing_of_its_last_work():
    class Work:
        """Work that a weak reference can point to."""

        def __call__(self) -> None:
            """Do nothing."""

    threads, gone = Threads(), threading.Event()
    work = Work()
    weakref.finalize(work, gone.set)
    threads.run(work)
    del work
    assert gone.wait(HANGS)
