"""What an emulator begins with: the requests of a file, or a state that was saved."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json, parse_json
from gcpx_emulator.core.printing import printable
from gcpx_emulator.core.store import SAVED

if TYPE_CHECKING:
    import httpx

HELP: Final = "begin with what the requests in this file create, or with the state that was saved in it"
_METHODS: Final = ("DELETE", "GET", "PATCH", "POST", "PUT")
_KEYS: Final = ("method", "path", "body")
_EXAMPLE: Final = '[{"method": "POST", "path": "/storage/v1/b?project=demo-project", "body": {"name": "uploads"}}]'
_LOG: Final = logging.getLogger("gcpx_emulator")


class SeedError(Exception):
    """A file that cannot be used, or requests that are refused. The message has a line for each problem."""


@attrs.frozen
class Seed:
    """What an empty emulator begins with.

    Attributes:
        file: the name of the file.
        requests: its requests, each with `method`, `path`, which includes the query, and perhaps a `body` of JSON.
        state: a saved state, in place of requests.
    """

    file: str
    requests: Sequence[Json] = ()
    state: bytes | None = attrs.field(default=None, repr=False)

    @classmethod
    def read(cls, file: str) -> Seed:
        """Read a file.

        Raises:
            SeedError: if the file cannot be read, or with everything that is wrong in it.
        """
        try:
            raw = Path(file).read_bytes()
            content = None if raw.startswith(SAVED) else parse_json(raw, file)
        except (OSError, ValueError) as error:
            raise SeedError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        except ApiError as error:
            raise SeedError(error.message.removeprefix("Parse Error: ")) from None
        if raw.startswith(SAVED):
            return cls(file, state=raw)
        if not isinstance(content, list):
            raise SeedError(f"{file} must be a list of requests, such as {_EXAMPLE}, or a saved state")
        found = (_problems(f"{file}[{number}]", entry) for number, entry in enumerate(content))
        if problems := list(chain.from_iterable(found)):
            raise SeedError("\n".join(problems))
        return cls(file, content)

    async def plant(self, client: httpx.AsyncClient) -> None:
        """Send the requests, or the state, to an emulator, unless it has resources already.

        Raises:
            SeedError: with everything that the emulator refuses, and why.
        """
        if (await client.get("/_emulator/resources")).json():
            _LOG.warning("%s is not used, because the emulator has resources already", self.file)
            return
        if self.state is not None:
            await _send(client, [(self.file, client.build_request("PUT", "/_emulator/state", content=self.state))])
            return
        places = (f"{self.file}[{number}]" for number in range(len(self.requests)))
        requests = [(place, _request(client, place, given)) for place, given in zip(places, self.requests, strict=True)]
        try:
            await _send(client, requests)
        except SeedError:
            await client.post("/_emulator/reset", json={})  # the next start is to find an empty emulator again
            raise


def _problems(place: str, entry: Any) -> Iterator[str]:
    """Say what is wrong with an entry of the list."""
    if not isinstance(entry, dict):
        yield f"{place} must be an object with {', '.join(_KEYS)}"
        return
    for name in sorted(entry.keys() - set(_KEYS)):
        yield f"{place}.{printable(name)} is unknown; a request has {', '.join(_KEYS)}"
    if entry.get("method") not in _METHODS:
        yield f"{place}.method must be {', '.join(_METHODS[:-1])} or {_METHODS[-1]}"
    path = entry.get("path")
    if not (isinstance(path, str) and path.startswith("/")):
        yield f"{place}.path must begin with a slash, such as /storage/v1/b?project=demo-project"


def _request(client: httpx.AsyncClient, place: str, given: Json) -> httpx.Request:
    """Return a request of the file; raises SeedError if no URL has its path."""
    import httpx  # noqa: PLC0415 - few emulators need it

    headers = {"Content-Type": "application/json"} if given["method"] == "POST" else {}
    try:
        return client.build_request(given["method"], given["path"], json=given.get("body"), headers=headers)
    except (httpx.InvalidURL, ValueError) as error:
        raise SeedError(f"{place}.path is no path of a URL: {error}") from None


async def _send(client: httpx.AsyncClient, requests: Sequence[tuple[str, httpx.Request]]) -> None:
    """Send requests one after another; each has its place in the file."""
    from gcpx_emulator.testing.control import reason  # noqa: PLC0415 - it needs httpx, which few emulators do

    answers = [(place, await client.send(request)) for place, request in requests]
    if problems := [f"{place}: {reason(answer)}" for place, answer in answers if not answer.is_success]:
        raise SeedError("\n".join(problems))
