"""Creates a resource exactly once, and keeps track of resources that Google may have created.

The verb `create` of each resource sends its request once, and reads the result, within `keeping_state`:

- with a request ID, by `gcpx.compute.insertion.insert_once`,
- without one, under a name from the program, by `create_by_name`,
- with neither, notifications look for what is new in the list (`gcpx.storage.notification_config`).

`gcpx.model.ownership` decides who owns an existing resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import attrs

from gcpx.errors import RUN_AGAIN, MalformedResponse, ProviderError, safe_message, sentences, without_stop
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PreconditionFailed, Unfinished
from gcpx.model.context import Context
from gcpx.model.import_command import how_to_manage, not_ours
from gcpx.model.resource import PartialError, State

_OTHERWISE: Final = "remove it from the program or, if you have just deleted it, run `pulumi up` in a minute"
"""What to do instead of an import; Google may show something for a while after its deletion."""


def taken_over(resource_id: str) -> str:
    """Return the warning that an existing resource is taken over after a lost response, without proof of its origin."""
    return (
        f"{resource_id} is taken over: the response to the request that creates it was lost, it did not exist before "
        "the request, and it is as requested. Google does not show who created it"
    )


@contextmanager
def keeping_lost() -> Iterator[None]:
    """Raise Unfinished if the response of a creating request was lost, and Google refuses its repetition.

    The refusal says nothing about the lost attempt: meanwhile, a resource that the request names may have been deleted,
    or a policy may forbid the creation. Only a conflict is evidence, which callers handle.
    """
    try:
        yield
    except (NotFound, PreconditionFailed) as refusal:
        if not refusal.is_repeated:
            raise
        words = f"{without_stop(str(refusal))}. Google may have carried out an earlier attempt"
        raise Unfinished(words, next_step=RUN_AGAIN) from refusal


def create_by_name(
    context: Context,
    resource_id: str,
    *,
    send: Callable[[], Mapping[str, Any]],
    exists: Callable[[], bool],
    is_as_written: Callable[[], bool] = lambda: False,
) -> Mapping[str, Any]:
    """Create a resource with a name from the program, by an API without request IDs; return Google's response.

    Nothing shows who created an existing resource. So the creation fails, unless a lost attempt may have created it.

    Args:
        context: the engine's call.
        resource_id: the resource in messages.
        send: sends the request, and returns its response; raises Conflict if the resource exists.
        exists: returns whether the resource exists.
        is_as_written: returns whether the existing resource equals the request, or cannot be read yet. It is called if
            a repeated request finds that the resource exists. By default, nothing proves that an earlier attempt
            created it.

    Raises:
        Unfinished: Google may have carried out the request.
        ProviderError: nothing was created.
    """
    if exists():
        raise _exists_already(context, resource_id)
    try:
        with keeping_lost():
            return send()
    except Conflict as conflict:
        # It did not exist before. If it equals this request, the lost attempt created it.
        try:
            is_ours = conflict.is_repeated and is_as_written()
        except Exception as error:
            words = f"{without_stop(str(conflict))}. The existing resource could not be read: {safe_message(error)}"
            raise Unfinished(words, next_step=RUN_AGAIN) from error
        if not is_ours:
            raise _exists_already(context, resource_id) from conflict
        context.inform(taken_over(resource_id))
        return {}


_TOLD: Final = frozenset({"alreadyExists", "invalid"})
"""Reasons of Google that say no more than that something exists, if it does: `invalid` is said of an attached disk."""


def exists_already(error: ApiError, context: Context, resource_id: str, otherwise: str, **words: str) -> ApiError:
    """Return the error of a request to create something that exists, with what to do, in at most three lines.

    The other arguments are those of `not_ours`, whose text replaces that of Google.
    """
    if error.reason in _TOLD:
        return error.with_message(not_ours(context, resource_id, otherwise, **words))
    return error.with_hint(f"\n{how_to_manage(context, resource_id, otherwise)}")


def _exists_already(context: Context, resource_id: str) -> ApiError:
    return exists_already(Conflict("", status=409, reason="alreadyExists"), context, resource_id, _OTHERWISE)


@attrs.define
class CreationProgress:
    """The progress of a creation.

    Attributes:
        context: the engine's call.
        describe: describes the resource without reading it, from Google's operation (REST JSON), `{}` without one.
    """

    context: Context
    describe: Callable[[Any], State]
    _response: Mapping[str, Any] | None = attrs.field(default=None, init=False)
    _outcome: object = attrs.field(default="", init=False)

    def created(self, response: Mapping[str, Any], outcome: object = "it was created") -> None:
        """Record that the resource exists; `outcome` describes its creation in messages."""
        self._response, self._outcome = response, outcome

    def error_with_state(self, error: Exception) -> PartialError | None:
        """Return the error to raise after an error, with the state to keep; None if nothing was created."""
        if self._response is not None:
            state = self.describe(self._response)
            words = f"{state.id}: {without_stop(str(self._outcome))}, but it could not be read: {safe_message(error)}"
            return PartialError(state, f"{without_stop(words)}. Run `pulumi up` again to finish it.")
        if isinstance(error, Unfinished):
            state = self.describe(error.operation)
            return PartialError(
                state, sentences(str(error), f"{state.id} may exist, and the state has it as unfinished")
            )
        is_explained = isinstance(error, ProviderError) and not isinstance(error, MalformedResponse)
        if is_explained or not self.context.sent.is_set():
            return None
        state = self.describe({})
        words = f"{state.id}: it may have been created, but {safe_message(error)}"
        return PartialError(state, sentences(words, RUN_AGAIN))


@contextmanager
def keeping_state(context: Context, describe: Callable[[Any], State]) -> Iterator[CreationProgress]:
    """Raise `PartialError` for each error after which the resource exists, or may exist.

    Before the call of `CreationProgress.created`, these are `Unfinished` (Google accepted the request, and its result
    is unknown) and unexpected errors after a request was sent; afterwards, they are all errors. Other errors are
    raised unchanged: nothing was created.
    """
    progress = CreationProgress(context, describe)
    try:
        yield progress
    except PartialError:
        raise
    except Exception as error:
        with_state = progress.error_with_state(error)
        if with_state is None:
            raise
        raise with_state from error
