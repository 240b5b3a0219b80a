"""Answers many concurrent reads together, by pages of a list.

A single read is a request of its own. If more than a few others arrive while it is under way, a page of a list answers
them, and also the reads of the next seconds. If no page shows a thing, its read asks for it alone: a list never proves
that something is gone.
"""

from __future__ import annotations

import json
import math
import queue
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import attrs

from gcpx.errors import CancelledError, OutOfTimeError
from gcpx.gcp.errors import NotFound, PermissionDenied
from gcpx.model.context import NOTICED_WITHIN, Context

LONGEST_AGE: Final = 10.0
"""The age up to which an answer serves further reads, in seconds."""
MOST_SEPARATE_READS: Final = 2
"""The number of concurrent reads that are still requests of their own."""
_WORTH: Final = 5
"""The average number of reads that pages must answer to justify another page, which takes longer than a single read."""
_MOST_KEPT: Final = 64 << 20
"""The maximum size of kept answers, in bytes."""

_LISTS: Final = b"lists"
"""The value that a waiting read gets, in place of JSON, if it has to read pages."""
_Json = dict[str, Any]


@attrs.frozen(kw_only=True)
class Scope:
    """Things that can be read one by one or by a list, as Google's JSON; and how a call reads them.

    Attributes:
        place: a unique key of the scope, with everything that changes the answers, such as the API's version.
        kind: the part of a path that identifies requests that change such things, such as `instanceTemplates`.
        get: reads one thing by its key, such as its name; raises NotFound, or returns None, if it does not exist.
        page: reads the page of the list with a token; an empty token is the first page. Returns things by key, and
            the token of the next page, which is empty on the last one.
        longest_age: the age up to which an answer serves further reads, in seconds.
        most_pages: the number of first pages that show everything that polling calls wait for, so that such a page is
            always worth a request; 0 for other scopes.
    """

    place: str
    kind: str
    get: Callable[[str], _Json | None]
    page: Callable[[str], tuple[Mapping[str, _Json], str]]
    longest_age: float = LONGEST_AGE
    most_pages: int = 0

    def alone(self, key: str) -> _Json | None:
        """Read one thing by a request of its own; None if it does not exist."""
        try:
            return self.get(key)
        except NotFound:
            return None


@attrs.frozen
class _Kept:
    """An answer for further reads, as JSON text, which takes little memory and cannot be changed.

    Attributes:
        asked: the time of its request.
    """

    answer: bytes
    asked: float


@attrs.define(eq=False)
class _Waiting:
    """A read that waits for a page.

    Attributes:
        since: the time of its start.
        news: a queue for the answer as JSON, or None to ask alone; before that, it may get `_LISTS` to read pages.
        is_answered: whether it got one of the first two.
        is_next: whether it has to read pages, but has not started.
    """

    key: str
    since: float
    news: queue.SimpleQueue[bytes | None] = attrs.Factory(queue.SimpleQueue)
    is_answered: bool = False
    is_next: bool = False

    def answer(self, answer: bytes | None) -> None:
        """Give the read its answer, or None to let it ask alone."""
        self.is_answered = True
        self.news.put(answer)

    def read_pages(self) -> None:
        """Let the read continue with the pages."""
        self.is_next = True
        self.news.put(_LISTS)


@attrs.define(eq=False)
class _SharedRequest:
    """A request for one thing that other reads join; they get JSON, or None if they have to ask alone.

    Attributes:
        asked: the time at which it was sent.
        changes: the number of changes before it.
        joined: the number of reads that joined it; each takes one of the answers.
    """

    asked: float
    changes: int
    joined: int = 0
    answers: queue.SimpleQueue[bytes | None] = attrs.Factory(queue.SimpleQueue)


@attrs.define(eq=False)
class _Reads:
    """The reads of one scope.

    Attributes:
        changes: the number of changes before the kept answers.
        is_led: whether the first read of a burst is under way.
        is_listing: whether a page is under way.
        waiting: the reads that wait for a page.
        requests: the requests for one thing that are under way, by its key.
        kept: answers for further reads, by key.
        list_asked: the time at which the first page was requested.
        depth: the number of pages read since then.
        token: the token of the next page; empty for the first page, None if there is none.
        pages: the number of requested pages.
        answered: the number of reads that pages answered.
        has_helped: whether the last page answered a waiting read.
        is_refused: whether the caller may not list.
    """

    changes: int
    is_led: bool = False
    is_listing: bool = False
    waiting: list[_Waiting] = attrs.Factory(list)
    requests: dict[str, _SharedRequest] = attrs.Factory(dict)
    kept: dict[str, _Kept] = attrs.Factory(dict)
    list_asked: float = -math.inf
    depth: int = 0
    token: str | None = ""
    pages: int = 0
    answered: int = 0
    has_helped: bool = False
    is_refused: bool = False

    def may_list(self, scope: Scope) -> bool:
        """Return whether a page may help."""
        is_worth = scope.most_pages or self.pages * _WORTH <= self.answered
        return bool(is_worth) and not self.is_refused and self.token is not None

    def is_within_list(self, scope: Scope) -> bool:
        """Return whether the list was read in part, so that its next page may help even a single read."""
        return bool(self.token) and self.has_helped and self.may_list(scope)

    def needs_page(self, scope: Scope) -> bool:
        """Return whether to read a page for the waiting reads; after a page that helped, even for one."""
        enough = 0 if (self.token and self.has_helped) or scope.most_pages else MOST_SEPARATE_READS
        return self.may_list(scope) and len({item.key for item in self.waiting}) > enough

    def release(self, answers: Mapping[str, bytes], since: float = math.inf) -> None:
        """Answer the waiting reads that began before a time, as far as `answers` has their keys."""
        waiting, self.waiting = self.waiting, []
        for item in waiting:
            if item.key in answers and item.since <= since:
                self.answered += 1
                item.answer(answers[item.key])
            else:
                self.waiting.append(item)

    def give_up(self, since: float = math.inf) -> None:
        """Let the waiting reads that began before a time ask alone."""
        waiting, self.waiting = self.waiting, []
        for item in waiting:
            if item.since <= since:
                item.answer(None)
            else:
                self.waiting.append(item)


@attrs.define
class SharedReads:
    """The reads of a process that may be answered together, because their calls have `Context.sharing`.

    An answer is never older than this process's last change of something of its kind. If its request began before the
    read, it is at most `LONGEST_AGE` old.

    Attributes:
        clock: gives the time in seconds, from any starting point.
    """

    clock: Callable[[], float]
    _scopes: dict[str, _Reads] = attrs.Factory(dict)
    _changes: dict[str, int] = attrs.Factory(dict)
    """The numbers of changes of each kind that began, and that ended."""
    _waiting_calls: Counter[str] = attrs.Factory(Counter)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False)

    def changed(self, path: str = "") -> None:
        """Note the start or the end of a change at a path; without a path, of anything."""
        parts = set(re.split("[/:]", path))
        with self._lock:
            for kind in self._changes:
                if not path or kind in parts:
                    self._changes[kind] += 1

    @contextmanager
    def counted_as_waiting(self, place: str) -> Iterator[Callable[[], int]]:
        """Count the call as waiting at a place during the block; yields a function that counts such calls."""
        with self._lock:
            self._waiting_calls[place] += 1
        try:
            yield lambda: self._waiting_calls[place]
        finally:
            with self._lock:
                self._waiting_calls[place] -= 1

    def read(self, context: Context, scope: Scope, key: str) -> _Json | None:
        """Read a thing by its key, alone or together with others; None if its own request shows that it is gone.

        Raises the same as `Scope.alone`, but never an error of another read. Raises CancelledError and OutOfTimeError
        also while it waits for others.
        """
        if context.sharing is None:
            return scope.alone(key)
        with self._lock:
            reads = self._reads_of(scope)
            kept = reads.kept.get(key)
            if kept is not None and self._is_young(scope, kept.asked):
                reads.answered += 1
                return _used(context, kept.answer)
            joins = key in reads.requests
            leads = not (joins or reads.is_led or reads.is_listing or scope.most_pages or reads.is_within_list(scope))
            reads.is_led = reads.is_led or leads
            waits = not joins and not leads and (reads.is_listing or reads.may_list(scope))
            waiting = _Waiting(key, self.clock()) if waits else None
            if waiting is not None:
                reads.waiting.append(waiting)
                if not reads.is_listing and reads.needs_page(scope):
                    reads.is_listing = True
                    waiting.read_pages()
        answer = None if waiting is None else self._page_answer(context, scope, reads, waiting)
        if answer is not None:
            return _used(context, answer)
        try:
            return self._alone(context, scope, reads, key)
        finally:
            if leads:  # the few that wait with the first read of a burst ask alone, unless a page is under way
                with self._lock:
                    reads.is_led = False
                    if not reads.is_listing:
                        reads.give_up()

    def _reads_of(self, scope: Scope) -> _Reads:
        """Return the reads of a scope, without answers that are older than the last change."""
        changes = self._changes.setdefault(scope.kind, 0)
        reads = self._scopes.setdefault(scope.place, _Reads(changes))
        if reads.changes != changes:
            reads.changes, reads.token = changes, ""
            reads.kept.clear()
        elif not reads.is_listing and not self._is_young(scope, reads.list_asked):
            reads.token = ""
        return reads

    def _is_young(self, scope: Scope, asked: float) -> bool:
        """Return whether an answer that was requested at a time may serve further reads."""
        return self.clock() - asked <= scope.longest_age

    def _page_answer(self, context: Context, scope: Scope, reads: _Reads, waiting: _Waiting) -> bytes | None:
        """Wait for the answer from a page, and read pages when it is this read's turn; None to ask alone."""
        try:
            while True:
                answer = _result(context, scope, waiting.key, waiting.news)
                if answer is not _LISTS:
                    return answer
                self._read_pages(scope, reads, waiting)
        except BaseException:
            with self._lock:
                reads.waiting = [item for item in reads.waiting if item is not waiting]
                if waiting.is_next:
                    self._pass_on(scope, reads)
            raise

    def _read_pages(self, scope: Scope, reads: _Reads, own: _Waiting) -> None:
        """Read pages until a read has its answer; then another waiting read continues.

        If that fails, all reads that wait ask alone, and each gets its own error.
        """
        own.is_next = False
        is_more = True
        try:
            while is_more and not own.is_answered:
                is_more = self._read_page(scope, reads)
        except PermissionDenied:
            reads.is_refused, is_more = True, False
        except Exception:  # noqa: BLE001 - whatever went wrong says nothing about the things
            is_more = False
        finally:
            with self._lock:
                if is_more:
                    self._pass_on(scope, reads)
                else:
                    reads.is_listing = False
                    reads.give_up()

    @staticmethod
    def _pass_on(scope: Scope, reads: _Reads) -> None:
        """Let one of the waiting reads continue with the pages."""
        reads.is_listing = False
        if reads.needs_page(scope):
            reads.is_listing = True
            reads.waiting[0].read_pages()
        else:
            reads.give_up()

    def _read_page(self, scope: Scope, reads: _Reads) -> bool:
        """Read a page, and answer the waiting reads; return whether to read one more."""
        with self._lock:
            asked, changes, token = self.clock(), self._changes[scope.kind], reads.token or ""
            reads.list_asked = reads.list_asked if token else asked
            reads.depth = reads.depth + 1 if token else 1
            reads.pages += 1
        page, following = scope.page(token)
        answers = {key: json.dumps(thing).encode() for key, thing in page.items()}
        with self._lock:
            if changes != self._changes[scope.kind]:
                return False
            self._keep(reads, answers, asked)
            answered = reads.answered
            reads.release(answers, math.inf if self._is_young(scope, asked) else asked)
            reads.has_helped = reads.answered > answered
            reads.token = following or None
            if scope.most_pages and (reads.depth >= scope.most_pages or not following):
                reads.give_up(reads.list_asked)
                reads.token = ""  # for later reads, the list starts again
            return reads.needs_page(scope)

    def _alone(self, context: Context, scope: Scope, reads: _Reads, key: str) -> _Json | None:
        """Read a thing by its own request, or join another read's request for it."""
        with self._lock:
            request = reads.requests.get(key)
            if request is None:
                request = reads.requests[key] = _SharedRequest(self.clock(), self._changes[scope.kind])
                joins = False
            else:
                request.joined += 1
                joins = True
        if not joins:
            return self._ask_for_all(scope, reads, key, request)
        answer = _result(context, scope, key, request.answers)
        return scope.alone(key) if answer is None else _thing(answer)

    def _ask_for_all(self, scope: Scope, reads: _Reads, key: str, request: _SharedRequest) -> _Json | None:
        found = answer = None
        try:
            found = scope.alone(key)
            answer = json.dumps(found).encode()
            return found
        finally:
            with self._lock:
                del reads.requests[key]
                if request.changes != self._changes[scope.kind] or not self._is_young(scope, request.asked):
                    answer = None
                if answer is not None and found is not None and request.joined > MOST_SEPARATE_READS:
                    self._keep(reads, {key: answer}, request.asked)
                for _ in range(request.joined):
                    request.answers.put(answer)

    def _keep(self, reads: _Reads, answers: Mapping[str, bytes], asked: float) -> None:
        """Keep answers for further reads, as long as there is room; drop those that are too old."""
        room = _MOST_KEPT
        oldest = self.clock() - LONGEST_AGE
        for others in self._scopes.values():
            others.kept = {key: kept for key, kept in others.kept.items() if kept.asked >= oldest}
            room -= sum(len(kept.answer) for kept in others.kept.values())
        for key, answer in answers.items():
            room -= len(answer)
            if room >= 0:
                reads.kept[key] = _Kept(answer, asked)

    def forget(self) -> None:
        """Drop everything, because resources may have changed since the last run."""
        with self._lock:
            self._scopes.clear()


def _used(context: Context, answer: bytes) -> _Json | None:
    """Return an answer that came from a shared request, and note that in the call."""
    if context.sharing is not None:
        context.sharing.used = True
    return _thing(answer)


def _thing(answer: bytes) -> _Json | None:
    found: _Json | None = json.loads(answer)
    return found


def _result(context: Context, scope: Scope, key: str, answers: queue.SimpleQueue[bytes | None]) -> bytes | None:
    """Wait for an answer, until the user cancels, or the call's time ends."""
    while True:
        try:
            return answers.get(timeout=NOTICED_WITHIN)
        except queue.Empty:
            what = f"GET {scope.place}/{key}"
            if context.cancelled.is_set():
                raise CancelledError.before(what) from None
            if context.seconds_left(reading=True) <= 0:
                raise OutOfTimeError(what, context.timeout) from None
