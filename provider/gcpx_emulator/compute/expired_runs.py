"""The end of instances that have reached their run limit: they are stopped or deleted."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.instance_states import RUNNING, terminate
from gcpx_emulator.compute.system_events import SystemEvent, record_event
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.store import DUE

_EVENTS: Final = {
    "DELETE": SystemEvent("compute.instances.deferredDelete"),
    "STOP": SystemEvent("compute.instances.deferredStop"),
}
"""What the operation shows, by `instanceTerminationAction`."""


def end_expired_runs(cloud: Cloud) -> None:
    """Stop or delete every instance whose planned end has passed, as of that moment."""
    for path, instance in cloud.store.due(cloud.operations.clock.now()):
        if instance["status"] == RUNNING:
            action = instance["scheduling"].get("instanceTerminationAction", "STOP")
            terminate(cloud.store, path, instance, instance[DUE])
            record_event(cloud, _EVENTS[action], instance, instance[DUE])
