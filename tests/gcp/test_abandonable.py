"""Nobody waits for a request after a cancellation, or after its time is up.

Holds reliability.md: "A request that only reads"; "A request that changes something".
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future

import attrs
import pytest
from engines.clock import HANGS, FakeClock
from engines.clocked import context

from gcpx.errors import CancelledError
from gcpx.gcp.attempt import Attempt, Response
from gcpx.gcp.errors import TimedOut, Unfinished
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.retries import RetryableError

READ = Request(api=COMPUTE, method="GET", path="v1/projects/p")
CHANGE = Request(api=COMPUTE, method="DELETE", path="v1/projects/p/zones/z/instances/i")
ANSWER = Response(200, {}, None)


@attrs.define
class Sending:
    """A sender, which goes on when the test says so."""

    attempt: Attempt
    reaches_google: bool = True
    begun: threading.Event = attrs.Factory(threading.Event)
    released: threading.Event = attrs.Factory(threading.Event)
    ended: threading.Event = attrs.Factory(threading.Event)
    outcome: object = None

    def send(self, attempt: Attempt) -> Response:
        try:
            if self.reaches_google:
                attempt.begin()
            self.begun.set()
            assert self.released.wait(HANGS)
            if not self.reaches_google:
                attempt.begin()
        except CancelledError as error:
            self.outcome = error
            raise
        finally:
            self.ended.set()
        return ANSWER

    def cancel_when_begun(self) -> None:
        def cancel() -> None:
            assert self.begun.wait(HANGS)
            self.attempt.context.cancelled.set()

        threading.Thread(target=cancel).start()


class Broken:
    """A sender that fails."""

    def send(self, attempt: Attempt) -> Response:
        raise ZeroDivisionError


@pytest.fixture
def sending():
    """Return a function that prepares the sending of a request; whatever is blocked is released at the end."""
    made = []

    def prepare(request, *, limit=HANGS, reaches_google=True, **more):
        call = attrs.evolve(context(FakeClock()), cancelled=threading.Event())
        made.append(Sending(Attempt(request, call, limit, limit, **more), reaches_google))
        return made[-1]

    yield prepare
    for item in made:
        item.released.set()
        assert item.ended.wait(HANGS)


def test_the_result_and_the_error_of_the_work_are_passed_on(sending):
    one, other = sending(READ), sending(READ)
    one.released.set()
    assert one.attempt.response(one) is ANSWER
    other.ended.set()
    with pytest.raises(ZeroDivisionError):
        other.attempt.response(Broken())


@pytest.mark.parametrize(
    ("request_", "reaches_google", "error", "words"),
    [
        (READ, True, CancelledError, "cancelled while waiting for the response"),
        (CHANGE, True, Unfinished, "Google may still carry the request out"),
        (READ, False, CancelledError, "cancelled before the request was sent"),
        (CHANGE, False, CancelledError, "it changed nothing"),
    ],
)
def test_a_cancellation_does_not_wait_for_the_response(sending, request_, reaches_google, error, words):
    blocked = sending(request_, reaches_google=reaches_google)
    blocked.cancel_when_begun()
    with pytest.raises(error, match=words):
        blocked.attempt.response(blocked)

    assert not blocked.released.is_set()


def test_an_attempt_that_is_abandoned_before_it_is_sent_never_sends(sending):
    """As while a token is being fetched: Google must not carry out what the user was told is not sent."""
    blocked = sending(CHANGE, reaches_google=False)
    blocked.cancel_when_begun()
    with pytest.raises(CancelledError):
        blocked.attempt.response(blocked)
    blocked.released.set()
    assert blocked.ended.wait(HANGS)

    assert isinstance(blocked.outcome, CancelledError)


@pytest.mark.parametrize("reaches_google", [True, False])
def test_an_attempt_ends_when_its_time_is_up_even_if_the_response_trickles(sending, reaches_google):
    blocked = sending(CHANGE, limit=0.0, reaches_google=reaches_google)

    class OnceBegun(threading.Event):
        """An event that is not looked at before the sender has begun."""

        def is_set(self):
            assert blocked.begun.wait(HANGS)
            return super().is_set()

    blocked.attempt.context = attrs.evolve(blocked.attempt.context, cancelled=OnceBegun())
    with pytest.raises(RetryableError) as raised:
        blocked.attempt.response(blocked)

    assert isinstance(raised.value.error, TimedOut)
    assert raised.value.unsent is not reaches_google


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_an_attempt_without_a_thread_ends_with_a_cancellation_or_when_its_time_is_up(sending, is_cancelled):
    class Refusing(Executor):
        """An executor that never gets a thread."""

        def submit(self, *_: object) -> Future[object]:
            return Future()

    stuck = sending(CHANGE, limit=0.0, threads=Refusing())
    stuck.ended.set()  # it never begins
    if is_cancelled:
        stuck.attempt.context.cancelled.set()
    with pytest.raises(CancelledError if is_cancelled else RetryableError):
        stuck.attempt.response(stuck)
    assert not stuck.begun.is_set()
