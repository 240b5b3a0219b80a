"""A call of a custom method that creates something on a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class MethodCall:
    """A call of a custom method of one resource, such as `attachDisk`.

    Attributes:
        name: the resource's name.
        body: the JSON of the body.
        query: parameters beside the request ID.
        inverse: the method that undoes it.
    """

    name: str
    method: str
    body: Any
    query: Mapping[str, Any]
    inverse: str
