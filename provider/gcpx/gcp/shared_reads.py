"""Reads that are answered together: a page of a list answers many reads that are under way at the same time.

A read with no other one beside it is a request of its own. If more than a couple come while it is under way, a page of
a list answers them, and those that come within the next seconds. What a page does not show, each of them reads alone:
a list never tells that something is gone.
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
from gcpx.gcp.errors import PermissionDenied
from gcpx.model.resource import NOTICED_WITHIN, Context

LONGEST_AGE: Final = 10.0
"""Seconds for which an answer is given to further reads."""
A_COUPLE: Final = 2
"""As many reads that come while another one is under way are still requests of their own."""
_WORTH: Final = 5
"""How many reads each page has to answer, on average, for a further one to be read: a page takes longer than others."""
_MOST_KEPT: Final = 64 << 20
"""The bytes of answers that are kept for further reads."""

_LISTS: Final = b"lists"
"""What a read gets instead of JSON if it has to read pages."""
_Json = dict[str, Any]


@attrs.frozen(kw_only=True)
class Scope:
    """Things that a list has, and that can also be read one by one, as Google's JSON; and how one call reads them.

    Attributes:
        place: tells the scope from all others, with what changes the answers, such as the API's version.
        kind: the part of a path by which a request that changes such things is recognized, such as `instanceTemplates`.
        alone: reads one thing by its key, such as its name; None if it does not exist.
        page: reads the page of the list that a token leads to; an empty one leads to the first page. Gives things by
            key, and the token of the next page, which is empty on the last one.
        longest_age: seconds for which an answer is given to further reads.
        most_pages: the pages at the beginning of the list that show what the calls wait for, if many calls read again
            and again, so that such a page is always worth a request; 0 for other scopes.
    """

    place: str
    kind: str
    alone: Callable[[str], _Json | None]
    page: Callable[[str], tuple[Mapping[str, _Json], str]]
    longest_age: float = LONGEST_AGE
    most_pages: int = 0


@attrs.frozen
class _Kept:
    """An answer for further reads, as JSON, which takes little memory and which nobody changes.

    Attributes:
        asked: when it was asked for.
    """

    answer: bytes
    asked: float


@attrs.define(eq=False)
class _Waiting:
    """A read that waits for a page.

    Attributes:
        since: when it began.
        news: gets the answer as JSON, None to ask alone, or before that `_LISTS` to read pages.
        is_answered: whether it got one of the first two.
        is_next: whether it has to read pages, and has not begun.
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
        """Let the read go on with the pages."""
        self.is_next = True
        self.news.put(_LISTS)


@attrs.define(eq=False)
class _Flight:
    """A request for one thing, which others join; they get JSON, or None if they have to ask alone.

    Attributes:
        asked: when it was sent.
        changes: the number of changes before it.
        joined: how many others have joined it; each of them takes one of the answers.
    """

    asked: float
    changes: int
    joined: int = 0
    answers: queue.SimpleQueue[bytes | None] = attrs.Factory(queue.SimpleQueue)


@attrs.define(eq=False)
class _Reads:
    """The reads of one scope.

    Attributes:
        changes: the number of changes before everything that is kept here.
        is_led: whether the first read of a burst is under way.
        is_listing: whether a page is under way.
        waiting: the reads that wait for a page.
        flights: the requests for one thing that are under way, by its key.
        kept: answers for further reads, by key.
        begun: when the first page was asked for.
        depth: how many pages were read since then.
        token: that of the next page; empty for the first page, None if there is none.
        pages: how many pages were asked for.
        answered: how many reads were answered by pages.
        has_helped: whether the last page has answered a read that waited.
        is_refused: whether the caller may not list.
    """

    changes: int
    is_led: bool = False
    is_listing: bool = False
    waiting: list[_Waiting] = attrs.Factory(list)
    flights: dict[str, _Flight] = attrs.Factory(dict)
    kept: dict[str, _Kept] = attrs.Factory(dict)
    begun: float = -math.inf
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
        """Return whether some pages of a list were read, and the next one may help even a single read."""
        return bool(self.token) and self.has_helped and self.may_list(scope)

    def needs_page(self, scope: Scope) -> bool:
        """Return whether to read a page for the reads that wait; after a page that has helped, even for one."""
        enough = 0 if (self.token and self.has_helped) or scope.most_pages else A_COUPLE
        return self.may_list(scope) and len({item.key for item in self.waiting}) > enough

    def release(self, answers: Mapping[str, bytes], since: float = math.inf) -> None:
        """Answer the reads that wait and began before a time, as far as there are answers, by key."""
        waiting, self.waiting = self.waiting, []
        for item in waiting:
            if item.key in answers and item.since <= since:
                self.answered += 1
                item.answer(answers[item.key])
            else:
                self.waiting.append(item)

    def give_up(self, since: float = math.inf) -> None:
        """Let the reads that wait and began before a time ask alone."""
        waiting, self.waiting = self.waiting, []
        for item in waiting:
            if item.since <= since:
                item.answer(None)
            else:
                self.waiting.append(item)


@attrs.define
class SharedReads:
    """The reads of a process that may be answered together: those of calls that set `Context.sharing`.

    An answer is never older than the last change of something of its kind by this process. If it was asked for before a
    read began, it is at most `LONGEST_AGE` old.

    Attributes:
        clock: gives the time in seconds, from any starting point.
    """

    clock: Callable[[], float]
    _scopes: dict[str, _Reads] = attrs.Factory(dict)
    _changes: dict[str, int] = attrs.Factory(dict)
    """How many changes of each kind were begun, and how many have ended."""
    _crowds: Counter[str] = attrs.Factory(Counter)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False)

    def changed(self, path: str = "") -> None:
        """Note that something at a path is changed now, or that its change has ended; without a path, anything."""
        parts = set(re.split("[/:]", path))
        with self._lock:
            for kind in self._changes:
                if not path or kind in parts:
                    self._changes[kind] += 1

    @contextmanager
    def crowd(self, place: str) -> Iterator[Callable[[], int]]:
        """Count the call among those that wait at a place during the block; give what returns how many there are."""
        with self._lock:
            self._crowds[place] += 1
        try:
            yield lambda: self._crowds[place]
        finally:
            with self._lock:
                self._crowds[place] -= 1

    def read(self, context: Context, scope: Scope, key: str) -> _Json | None:
        """Read a thing by its key, alone or together with others; None if a request for it alone shows that it is gone.

        Raises what `Scope.alone` raises for this very read, and no error of another one. Raises CancelledError and
        OutOfTimeError also while it waits for others.
        """
        if context.sharing is None:
            return scope.alone(key)
        with self._lock:
            reads = self._reads_of(scope)
            kept = reads.kept.get(key)
            if kept is not None and self._is_young(scope, kept.asked):
                reads.answered += 1
                return _used(context, kept.answer)
            joins = key in reads.flights
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
            if leads:
                self._end_lead(reads)

    def _reads_of(self, scope: Scope) -> _Reads:
        """Return the reads of a scope, without what is older than the last change."""
        changes = self._changes.setdefault(scope.kind, 0)
        reads = self._scopes.setdefault(scope.place, _Reads(changes))
        if reads.changes != changes:
            reads.changes, reads.token = changes, ""
            reads.kept.clear()
        elif not reads.is_listing and not self._is_young(scope, reads.begun):
            reads.token = ""
        return reads

    def _is_young(self, scope: Scope, asked: float) -> bool:
        """Return whether an answer that was asked for at a time may be given to further reads."""
        return self.clock() - asked <= scope.longest_age

    def _end_lead(self, reads: _Reads) -> None:
        """End the first read of a burst: the couple that wait beside it ask alone, unless a page is under way."""
        with self._lock:
            reads.is_led = False
            if not reads.is_listing:
                reads.give_up()

    def _page_answer(self, context: Context, scope: Scope, reads: _Reads, waiting: _Waiting) -> bytes | None:
        """Wait for the answer of a page, and read pages in turn; None to ask alone."""
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
        """Read pages until a read has its answer; then another one that waits goes on.

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
        """Let one of the reads that wait go on with the pages."""
        reads.is_listing = False
        if reads.needs_page(scope):
            reads.is_listing = True
            reads.waiting[0].read_pages()
        else:
            reads.give_up()

    def _read_page(self, scope: Scope, reads: _Reads) -> bool:
        """Read a page, and answer the reads that wait; return whether to read one more."""
        with self._lock:
            asked, changes, token = self.clock(), self._changes[scope.kind], reads.token or ""
            reads.begun = reads.begun if token else asked
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
                reads.give_up(reads.begun)
                reads.token = ""  # for those that came later, the list begins anew
            return reads.needs_page(scope)

    def _alone(self, context: Context, scope: Scope, reads: _Reads, key: str) -> _Json | None:
        """Read a thing by a request for it alone, or by that of another read of it."""
        with self._lock:
            flight = reads.flights.get(key)
            if flight is None:
                flight = reads.flights[key] = _Flight(self.clock(), self._changes[scope.kind])
                joins = False
            else:
                flight.joined += 1
                joins = True
        if not joins:
            return self._fly(scope, reads, key, flight)
        answer = _result(context, scope, key, flight.answers)
        return scope.alone(key) if answer is None else _thing(answer)

    def _fly(self, scope: Scope, reads: _Reads, key: str, flight: _Flight) -> _Json | None:
        found = answer = None
        try:
            found = scope.alone(key)
            answer = json.dumps(found).encode()
            return found
        finally:
            with self._lock:
                del reads.flights[key]
                if flight.changes != self._changes[scope.kind] or not self._is_young(scope, flight.asked):
                    answer = None
                if answer is not None and found is not None and flight.joined > A_COUPLE:
                    self._keep(reads, {key: answer}, flight.asked)
                for _ in range(flight.joined):
                    flight.answers.put(answer)

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
        """Drop everything, because what exists may have changed since the last run."""
        with self._lock:
            self._scopes.clear()


def _used(context: Context, answer: bytes) -> _Json | None:
    """Return an answer that was not asked for by a request for the thing alone, and note that in the call."""
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
