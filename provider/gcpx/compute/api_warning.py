"""Warnings in responses of the Compute API."""

from __future__ import annotations

from gcpx.model.fields import Record, answer, record


@record
class WarningData(Record):
    """One detail of a warning."""

    key: str = answer("What the detail is about, such as `scope`.", always=True)
    value: str = answer("The detail, such as `zones/us-east1-b`.", always=True)


@record
class ApiWarning(Record):
    """A warning in a response of Google's."""

    code: str = answer("The warning's code, such as `NO_RESULTS_ON_PAGE` or `UNREACHABLE`.", always=True)
    data: list[WarningData] = answer("Details of the warning.")
    message: str = answer("The warning's text.")
