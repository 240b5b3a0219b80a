"""The body of a request to `regionInstances.bulkInsert`."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.bulk_instances.fleet_id import RESERVED_LABELS, TRACKING_LABEL
from gcpx.model import codec
from gcpx.model.fields import object_type


@attrs.frozen(kw_only=True)
class BulkInsertBody:
    """What a request says in addition to the fleet's inputs.

    Attributes:
        count: the number of instances to create.
        minimum: the fewest that it may create; with fewer, it fails and creates none.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; None if the location policy chooses it.
        labels: labels in addition to those of the inputs and of the fleet.
        placement_policy: the name of the placement policy that the instances share; empty without one.
    """

    count: int
    minimum: int
    names: list[str] = attrs.Factory(list)
    zone: str | None = None
    labels: dict[str, str] = attrs.Factory(dict)
    placement_policy: str = ""

    def write(self, fleet: Fleet, inputs: dict[str, Any]) -> dict[str, Any]:
        """Write the body (REST JSON); `inputs` are the fleet's, without secrets and unknowns."""
        body = codec.to_body(object_type(BulkInstancesModel), inputs)
        properties = self._with_placement(self._with_labels(fleet, body))
        return {
            **self._named(body),
            **({"instanceProperties": properties} if properties else {}),
            **({"locationPolicy": {"zones": [{"zone": f"zones/{self.zone}"}]}} if self.zone else {}),
            "count": str(self.count),
            "minCount": str(self.minimum),
        }

    @staticmethod
    def without_tracking_label(body: dict[str, Any]) -> dict[str, Any]:
        """Return a body without the label that has the fleet's ID."""
        properties = body.get("instanceProperties") or {}
        labels = {key: value for key, value in (properties.get("labels") or {}).items() if key != TRACKING_LABEL}
        return {**body, "instanceProperties": {**properties, "labels": labels}}

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with the names of the instances in place of a name pattern, if there are any."""
        if not self.names:
            return body
        own = body.get("perInstanceProperties", {})
        rest = {name: value for name, value in body.items() if name != "namePattern"}
        return {**rest, "perInstanceProperties": {name: own.get(name, {}) for name in self.names}}

    def _with_labels(self, fleet: Fleet, body: dict[str, Any]) -> dict[str, Any]:
        """Return the instance properties of a body, with the labels that make the instances members of this fleet only."""
        properties = dict(body.get("instanceProperties", {}))
        # A label of another fleet in the template would make the instances members of both.
        removed = dict.fromkeys(sorted(RESERVED_LABELS)) if "sourceInstanceTemplate" in body else {}
        added = {**fleet.labels, **self.labels}
        if (added or removed) and properties.get("labels", {}) is not None:
            properties["labels"] = {**removed, **properties.get("labels", {}), **added}
        return properties

    def _with_placement(self, properties: dict[str, Any]) -> dict[str, Any]:
        if not self.placement_policy:
            return properties
        return {**properties, "resourcePolicies": [*properties.get("resourcePolicies", ()), self.placement_policy]}
