"""Threads of calls, when the operating system refuses one."""

from __future__ import annotations

import threading

from gcpx.protocol.call_threads import CallThreads


def test_calls_go_on_after_a_thread_was_refused(monkeypatch):
    pool, release, refused, start = CallThreads(), threading.Event(), [], threading.Thread.start
    first = [pool.submit(release.wait, 60) for _ in range(16)]

    def refuse_once(thread: threading.Thread) -> None:
        if not refused:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_once)
    later = [pool.submit(pow, 2, number) for number in range(5)]
    assert [result.result(timeout=60) for result in later] == [1, 2, 4, 8, 16]
    release.set()
    assert all(result.result(timeout=60) for result in first)
    assert len(refused) == 1
