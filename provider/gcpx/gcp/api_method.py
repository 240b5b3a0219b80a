"""What an API method needs: the IAM permissions, what each is needed on, and when."""

from __future__ import annotations

import re
from typing import Final

import attrs

from gcpx.gcp.apis import Api
from gcpx.gcp.request import Request

_PARAMETER: Final = re.compile(r"\{\w+\}")


@attrs.frozen
class Need:
    """A need for a permission.

    Attributes:
        permission: its name, such as `compute.instances.get`.
        on: what it is needed on, in words, such as `the instance`.
        when: the condition under which it is needed, in words; empty if every call needs it.
    """

    permission: str
    on: str
    when: str = ""


@attrs.frozen
class ApiMethod:
    """A method that gcpx calls.

    Attributes:
        id: as in Google's API descriptions, such as `compute.instances.get`.
        api: the API that it belongs to.
        call: the HTTP method and the path without the version, as in `GET [projects/{project}]/regions`; the brackets
            enclose the resource that the first need is on.
        needs: the permissions that it needs; none if Google documents none.
    """

    id: str
    api: Api
    call: str
    needs: tuple[Need, ...]

    def resource(self, request: Request) -> str | None:
        """Return the path of the resource that a request needs the first permission on; None for another method's."""
        call = f"{request.method} {request.shown.partition('/')[2]}"
        found = re.fullmatch(_expression(self.call), call) if request.api.name == self.api.name else None
        return found["on"] if found else None


def _expression(call: str) -> str:
    """Write the regular expression of a call; a parameter stands for one segment of the path."""
    return _PARAMETER.sub("[^/]+", call.replace("[", "(?P<on>").replace("]", ")"))
