"""The inputs that an update starts from: those of the last update, even if it failed.

After an update that failed on the way, Pulumi keeps the inputs from before it in the state, and the outputs from after
it. Some members have the properties of the failed update, so that one is what the next update has to be compared with.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.model.call import Call
from gcpx.model.diff import diff
from gcpx.model.fields import object_type

_OF_MEMBERS: Final = ("instanceProperties", "sourceInstanceTemplate")


def after_last_update(call: Call, old: dict[str, Any], new: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
    """Return the call and the old inputs of an update as if the last one had not failed.

    Args:
        call: the engine's call.
        old: the inputs in the state.
        new: the inputs to reach; unknowns are allowed.
    """
    kind, last = object_type(BulkInstancesModel), _last_inputs(call, old)
    if not diff(kind, last, old, {}):
        return call, old
    paths = [change.path for change in diff(kind, last, new, {}) if change.path[0] in _OF_MEMBERS]
    return attrs.evolve(call, changed=(*call.changed, *(path for path in paths if path not in call.changed))), last


def _last_inputs(call: Call, old: dict[str, Any]) -> dict[str, Any]:
    """Return the old inputs with the properties of members that the last update, successful or not, was to set."""
    given = {name: call.last[name] for name in _OF_MEMBERS if call.last.get(name) is not None}
    return {**{name: value for name, value in old.items() if name not in _OF_MEMBERS}, **given} if given else old
