"""What a fleet's outputs tell about each of its members."""

from __future__ import annotations

from gcpx.model.fields import Record, output_field, record


@record
class Member(Record):
    """One instance of the fleet."""

    external_address: str = output_field(
        "The external IPv4 address of the first network interface; missing if it has none."
    )
    id: str = output_field("The numeric ID that Google assigned to the instance.", always=True)
    internal_address: str = output_field("The internal IPv4 address of the first network interface.")
    name: str = output_field("The instance's name.", always=True)
    self_link: str = output_field("The instance's URL.", always=True)
    status: str = output_field("The instance's state, such as `RUNNING`.", always=True)
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)
