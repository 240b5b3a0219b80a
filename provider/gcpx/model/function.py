"""A function: the declarations of its arguments and its result, and one verb."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from gcpx.model.call import Call
from gcpx.model.fields import ObjectType, object_type
from gcpx.model.rules import Violation


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

    def problems(self, arguments: dict[str, Any]) -> list[Violation]:
        """Find what is wrong with arguments beyond their declaration; offline."""
        del arguments
        return []

    @abc.abstractmethod
    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the function; raises ProviderError for everything that the user has to know."""
