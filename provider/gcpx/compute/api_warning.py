"""Warnings in responses of the Compute API."""

from __future__ import annotations

from gcpx.model.fields import Record, output_field, record


@record
class WarningData(Record):
    """One detail of a warning."""

    key: str = output_field("What the detail is about, such as `scope`.", always=True)
    value: str = output_field("The detail, such as `zones/us-east1-b`.", always=True)


@record
class ApiWarning(Record):
    """A warning in one of Google's responses."""

    code: str = output_field("The warning's code, such as `NO_RESULTS_ON_PAGE` or `UNREACHABLE`.", always=True)
    data: list[WarningData] = output_field("Details of the warning.")
    message: str = output_field("The warning's text.")
