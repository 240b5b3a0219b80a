"""What a fleet's outputs say about each of its members."""

from __future__ import annotations

from gcpx.model.fields import Record, output_field, record


@record
class Member(Record):
    """One instance of the fleet."""

    external_address: str = output_field(
        "The external IPv4 address of the first network interface; missing if the interface has none."
    )
    fallback: int = output_field(
        "The index of the element of `fallbacks` that the instance was created with, such as `0`; missing if it was created without one."
    )
    generation: str = output_field(
        "The instance's generation, which stands for the properties that it was created with or last changed to; missing if the fleet has no `updatePolicy`."
    )
    id: str = output_field("The numeric ID that Google assigned to the instance.", always=True)
    internal_address: str = output_field("The internal IPv4 address of the first network interface.")
    name: str = output_field("The instance's name.", always=True)
    self_link: str = output_field("The instance's URL.", always=True)
    status: str = output_field("The instance's state, such as `RUNNING`.", always=True)
    stop_reason: str = output_field(
        "Why the instance is stopped: `PREEMPTED` if Google preempted it, `RUN_LIMIT` if it reached the end of its run time, `HOST_ERROR` if its host machine failed, `GUEST` if its own operating system shut it down, `REQUESTED` if someone stopped or suspended it; missing if it is not stopped, or if Google does not say why.",
        enum=("GUEST", "HOST_ERROR", "PREEMPTED", "REQUESTED", "RUN_LIMIT"),
    )
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)
