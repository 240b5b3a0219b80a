"""The resource MachineImage: create, read, relabel, delete and list machine images.

Source: REST reference, `machineImages`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.collection import Collection, inserted_name
from gcpx.compute.earlier_insertions import EarlierInsertions
from gcpx.compute.importable_resources import ImportableResources
from gcpx.compute.machine_image.declaration import MachineImageModel, MachineImageQuery
from gcpx.compute.name_pattern import NAME
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.in_project import InProject
from gcpx.gcp.list_method import link_of
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.links import path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.resource import InvalidId, ListedResource, Live, Page
from gcpx.model.rules import Violation, text

_TIMEOUT: Final = 1200.0
"""Seconds that an operation may take if the user sets no custom timeout."""
_FULL_ID: Final = re.compile(r"projects/([^/]+)/global/machineImages/([^/]+)")
_SHORT_ID: Final = re.compile(r"([^/]+)/([^/]+)")
_INSTANCE_PATH: Final = re.compile(r"(?:projects/([^/]+)/)?zones/([^/]+)/.*")


class MachineImage(InProject):
    """Machine images, identified by name in `global/machineImages`."""

    token = "gcpx:compute:MachineImage"
    model = MachineImageModel
    query = MachineImageQuery
    autoname = Autoname(property="name", pattern=NAME[0], max_length=63)
    in_place = frozenset({("labels",)})
    id_forms = ("projects/PROJECT/global/machineImages/NAME", "PROJECT/NAME", "NAME", "a self link")
    operation_timeout = _TIMEOUT

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._earlier = EarlierInsertions(self.token)

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Violation]:
        """Check the project and the source instance's zone; the instance may be created in the same run."""
        del olds
        source = _INSTANCE_PATH.fullmatch(path_of(text(inputs, "sourceInstance")))
        project = (source and source[1]) or self.location(inputs, {}).project
        checks = OnlineChecks(self._lookups, call, project)
        return checks.run(inputs, [partial(checks.check_zone, source[2], ("sourceInstance",))] if source else [])

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return project and name, which two images cannot share; None for a generated name."""
        return None if inputs.get(AUTONAMED) else (self._project(inputs), inputs.get("name"))

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict the project."""
        return {"project": self._project(inputs), "kind": "compute#machineImage"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Insert the image, then read it by the numeric ID that the operation returns."""
        project = self._project(inputs)
        body, query = codec.to_body(self.type, inputs), {"sourceInstance": inputs["sourceInstance"]}
        images = self._images(project)
        with keeping_state(partial(self._unread_image, project, inputs)) as creation:
            inserted = images.insert(call, body, query)
            creation.created(inserted.operation)
            name = inserted_name(inserted.operation, inputs["name"])
            live = self._live(project, images.read_inserted(call, name, inserted.operation))
        self._earlier.warn(call, images, inserted.operation)
        return attrs.evolve(live, adopted=inserted.earlier)

    def settle(self, call: Call, resource_id: str) -> None:
        """Wait for what interrupted runs are still inserting."""
        project, name = self._parse(resource_id)
        self._images(project).settle(call, name)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Read by name; an image with another numeric ID is not this resource."""
        del inputs
        project, name = self._parse(resource_id)
        images = self._images(project)
        image = images.get_own(call, name)
        return None if image is None else self._live(project, image)

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Set the labels, and keep those that other tools add."""
        project, name = self._parse(resource_id)
        if old.get("labels") != new.get("labels"):
            self._images(project).read_modify_write(call, name, "setLabels", partial(self._labels_body, new))
        return super().update(call, resource_id, old, new)

    def _labels_body(self, inputs: dict[str, Any], image: dict[str, Any]) -> dict[str, Any]:
        added_by_tools = self.type.properties["labels"].traits.merge_keys
        kept = {key: value for key, value in image.get("labels", {}).items() if key in added_by_tools}
        return {"labels": kept | (inputs.get("labels") or {}), "labelFingerprint": image.get("labelFingerprint")}

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by numeric ID, so that another image of this name stays."""
        project, name = self._parse(resource_id)
        self._images(project).delete(call, name)

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List the images of a project."""
        images = ImportableResources(
            google=self._google,
            project=self._project(query),
            version="beta",
            collection="machineImages",
            fields="selfLink,name",
            scope="global",
            filter=query.get("filter"),
        )
        items, next_token = images.read_page(call, token, size)
        return Page([ListedResource(link_of(item), item["name"]) for item in items], next_token)

    def _unread_image(self, project: str, inputs: dict[str, Any], operation: dict[str, Any]) -> Live:
        name = inserted_name(operation, inputs["name"])
        return self._unread(_id(project, name), {**inputs, "name": name, "project": project}, operation)

    def _live(self, project: str, image: dict[str, Any]) -> Live:
        return Live(_id(project, image["name"]), {**codec.from_body(self.type, image), "project": project})

    def _images(self, project: str) -> Collection:
        return Collection(
            google=self._google, version="beta", project=project, path="global/machineImages", timeout=_TIMEOUT
        )

    def _parse(self, resource_id: str) -> tuple[str, str]:
        """Read project and name from an ID."""
        path = path_of(resource_id)
        parts = _FULL_ID.fullmatch(path) or _SHORT_ID.fullmatch(path)
        if parts:
            return parts[1], parts[2]
        project = self._google.settings.project
        if project and NAME[0].fullmatch(path):
            return project, path
        raise InvalidId(self.token, resource_id, self.id_forms)


def _id(project: str, name: str) -> str:
    return f"projects/{project}/global/machineImages/{name}"
