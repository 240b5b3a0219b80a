"""Requests to an emulator, and their errors in one line."""

from __future__ import annotations

from typing import Any, Final

import attrs
import httpx

from gcpx_emulator.core.printing import printable

_LONGEST_WAIT: Final = 60.0
"""The longest time of a request in seconds; those that wait for deliveries take longest."""


class EmulatorError(Exception):
    """The emulator refuses a request or cannot be reached. The message is one line."""


@attrs.frozen
class Control:
    """Sends requests to the emulator at `host`."""

    host: str

    def send(self, http_method: str, path: str, /, body: Any = None, **query: Any) -> Any:
        """Send a request to a path that begins with a slash; return the JSON of the response.

        Raises:
            EmulatorError: if the emulator cannot be reached, or refuses the request.
        """
        answer = self.answer(http_method, path, body, **query)
        return read(answer) if answer.content or not answer.is_success else None

    def answer(self, http_method: str, path: str, /, body: Any = None, **query: Any) -> httpx.Response:
        """Send a request; return the response, which may be an error. A body is sent as JSON, unless it is bytes.

        Raises:
            EmulatorError: if the request cannot be encoded, or the emulator cannot be reached.
        """
        __tracebackhide__ = True
        url, params = f"http://{self.host}{path}", {key: value for key, value in query.items() if value is not None}
        headers = {"Content-Type": "application/json"} if http_method == "POST" else {}  # also without a body
        try:
            # HTTP needs no certificates, and without them a client is created much faster.
            with httpx.Client(trust_env=False, verify=False, timeout=_LONGEST_WAIT) as client:  # noqa: S501 - see above
                sent = {"content": body} if isinstance(body, bytes) else {"json": body}
                return client.request(http_method, url, params=params, headers=headers, **sent)
        except httpx.TimeoutException:
            raise EmulatorError(f"{path} took longer than {_LONGEST_WAIT:.0f} seconds") from None
        except httpx.TransportError as error:
            raise EmulatorError(
                f"no emulator answers at {self.host}: {error}; was it stopped, or did its process end?"
            ) from None
        except (httpx.InvalidURL, ValueError) as error:
            raise EmulatorError(f"{http_method} {url!r} cannot be sent: {_one_line(error)}") from None


def read(answer: httpx.Response) -> Any:
    """Return the JSON of a response.

    Raises:
        EmulatorError: if the response is an error, or has no JSON.
    """
    __tracebackhide__ = True
    if not answer.is_success:
        raise EmulatorError(reason(answer))
    try:
        return answer.json()
    except ValueError:
        url = answer.request.url
        raise EmulatorError(f"{url} does not answer with JSON; is it an emulator's address?") from None


def reason(answer: httpx.Response) -> str:
    """Return the message of an error in Google's format, in one line."""
    try:
        message = answer.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = answer.text
    request = answer.request
    return _one_line(f"{request.method} {request.url.path}: {answer.status_code}: {message}")


def _one_line(message: object) -> str:
    return printable(" ".join(str(message).split()))
