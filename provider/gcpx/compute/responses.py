"""The common parts of Google's responses, as outputs of functions: warnings, and an object's identity."""

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


@record
class ApiObject(Record):
    """The fields of every object of Compute; the name and the URL are there even if only some fields are read."""

    creation_timestamp: str = output_field("When the object was created (RFC 3339).")
    description: str = output_field("A description of the object.")
    id: str = output_field("The numeric ID that Google assigned to the object.")
    kind: str = output_field("The kind of object, such as `compute#instance` or `compute#operation`.")
    name: str = output_field("The object's name.", always=True)
    self_link: str = output_field("The object's URL.", always=True)
