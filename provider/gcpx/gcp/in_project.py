"""Resources and functions in a project: their places, default places, and cached look-ups."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import attrs

from gcpx.errors import ProviderError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, NotFound
from gcpx.gcp.not_found import explain_not_found
from gcpx.gcp.request import COMPUTE, SHORT_PATIENCE, Api, Request
from gcpx.gcp.settings import Settings
from gcpx.model.context import Context
from gcpx.model.fields import Failure
from gcpx.model.function import Function
from gcpx.model.links import Location
from gcpx.model.resource import Resource


def place_or_default(settings: Settings, name: str, values: dict[str, Any]) -> Any:
    """Return the `project`, `region` or `zone` of inputs, arguments or a query, or else the provider's.

    The value has the form that the user wrote, such as `regions/us-east1`. It may be unknown; it is None if neither is
    set.
    """
    return values.get(name) or getattr(settings, name)


def require_project(settings: Settings, values: dict[str, Any]) -> list[Failure]:
    """Require a project in inputs, arguments or a query, or in the provider's settings."""
    return [] if values.get("project") or settings.project else [missing_place("project")]


def missing_place(name: str, alternative: str = "") -> Failure:
    """Return the message that `project`, `region` or `zone` is required, and how to set it.

    `alternative` is another way to set it by this resource's inputs, such as `name the instance by its URL`.
    """
    here = f"set it here, {alternative}," if alternative else "set it here,"
    return Failure(name, f"is required: {here} or {how_to_set(name)}")


def how_to_set(name: str) -> str:
    """Say how to set the provider's `project`, `region` or `zone`."""
    return (
        f"set a default with `pulumi config set gcpx:{name} {name.upper()}`, with the variable "
        f"GOOGLE_{name.upper()}, or with --gcpx:{name} for `pulumi do`"
    )


_Key = tuple[str, str]
_Found = dict[str, Any] | None


@attrs.define
class Lookups:
    """A cache of responses since the last Configure.

    The first thread that looks up a path sends the request, and other threads wait for its response. Lookups of
    different paths run in parallel.
    """

    google: GoogleClient
    _found: dict[_Key, Future[_Found]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def forget(self) -> None:
        """Drop all responses, because resources may have changed since the last run."""
        with self._lock:
            self._found.clear()

    def get(self, context: Context, path: str, *, api: Api = COMPUTE, **query: Any) -> _Found:
        """Read a resource by its path with the version, below the API's own: `v1/projects/p`.

        Returns None if it does not exist, and `{}` with a warning if the request fails, as without permission.
        """
        return self._once(context, Request(api=api, method="GET", path=path, query=query, patience=SHORT_PATIENCE))

    def ask(self, context: Context, path: str, body: dict[str, Any]) -> _Found:
        """Send a POST to Compute that changes nothing; returns the same as `get`."""
        return self._once(
            context, Request(api=COMPUTE, method="POST", path=path, body=body, patience=SHORT_PATIENCE, only_reads=True)
        )

    def _once(self, context: Context, request: Request) -> _Found:
        """Send a request, unless the same one was sent before."""
        key = (f"{request.api.name}/{request.path}", repr((sorted(request.query.items()), request.body)))
        with self._lock:
            is_first = key not in self._found
            found = self._found.setdefault(key, Future())
        if is_first:
            self._fill(found, key, context, request)
        return found.result()

    def _fill(self, found: Future[_Found], key: _Key, context: Context, request: Request) -> None:
        try:
            found.set_result(self._send(context, request))
        except BaseException as error:  # noqa: BLE001 - every error is passed on to the waiting threads
            # A cached error would fail later lookups, too.
            with self._lock:
                if self._found.get(key) is found:
                    del self._found[key]
            found.set_exception(error)

    def _send(self, context: Context, request: Request) -> _Found:
        try:
            return self.google.send(request, context)
        except NotFound:
            return None
        except ApiError as error:
            context.warn(f"validateOnline could not check {request.path.partition('/')[2]}: {error}")
            return {}


class InProject(Resource[dict[str, Any]]):
    """A resource in the project of its inputs, or else in the provider's."""

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups

    def failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project."""
        return require_project(self._google.settings, inputs)

    def query_failures(self, query: dict[str, Any]) -> list[Failure]:
        """Require the project of a list."""
        return require_project(self._google.settings, query)

    def provider_defaults(self) -> dict[str, Any]:
        """Give the provider's project, which an import leaves out."""
        return {"project": self._google.settings.project}

    def explain_error(self, context: Context, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Name the input that names a missing resource."""
        return explain_not_found(self._google, context, inputs, error)

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Complete names with the project, and with the region if the resource has one."""
        return Location.of(inputs, outputs, project=self._google.settings.project)

    def _project(self, values: dict[str, Any]) -> Any:
        """Return the project of inputs or of a query, as it is written, or the provider's."""
        return values.get("project") or self._google.settings.project


class InProjectFunction(Function):
    """A function that reads from the project in its arguments, or else from the provider's."""

    def __init__(self, google: GoogleClient) -> None:
        self._google = google

    def failures(self, arguments: dict[str, Any]) -> list[Failure]:
        """Require a project."""
        return require_project(self._google.settings, arguments)

    def _project(self, arguments: dict[str, Any]) -> Any:
        """Return the project of arguments, as it is written, or the provider's."""
        return arguments.get("project") or self._google.settings.project
