"""The base class of functions: a declaration, its checks, and the call."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from gcpx.model.context import Context
from gcpx.model.fields import Failure, ObjectType, object_type


class Function(abc.ABC):
    """One function. `invoke` takes and returns plain values, without secrets and unknowns.

    Attributes:
        token: Pulumi's token.
        description: Markdown for the package's documentation.
        arguments: the record that declares the arguments.
        result: the record that declares the result.
    """

    token: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type]
    result: ClassVar[type]

    @abc.abstractmethod
    def __init__(self, google: Any) -> None:
        """Take the client of Google's APIs."""

    @property
    def type(self) -> ObjectType:
        """The arguments' declaration as data."""
        return object_type(self.arguments)

    @property
    def result_type(self) -> ObjectType:
        """The result's declaration as data."""
        return object_type(self.result)

    def failures(self, arguments: dict[str, Any]) -> list[Failure]:
        """Return the failures of arguments beyond their declaration; offline."""
        del arguments
        return []

    @abc.abstractmethod
    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the function; raises ProviderError for everything that the user has to know."""
