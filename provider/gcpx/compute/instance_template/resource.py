"""The resource InstanceTemplate: create, read, delete and list templates, global and regional.

Source: REST reference, `instanceTemplates` and `regionInstanceTemplates`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.collection import Collection, inserted_name
from gcpx.compute.earlier_insertions import EarlierInsertions
from gcpx.compute.importable_resources import ImportableResources
from gcpx.compute.instance_template.declaration import InstanceTemplateModel, InstanceTemplateQuery
from gcpx.compute.name_pattern import NAME
from gcpx.compute.online_checks import instance_checks
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.in_project import InProject
from gcpx.gcp.list_method import link_of
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec, state
from gcpx.model.call import Call
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.resource import InvalidId, ListedResource, Live, Page
from gcpx.model.rules import Violation, nested
from gcpx.model.values import UNKNOWN

_TIMEOUT: Final = 240.0
"""Seconds that an operation may take if the user sets no custom timeout."""
_FULL_ID: Final = re.compile(r"projects/([^/]+)/(?:global|regions/([^/]+))/instanceTemplates/([^/]+)")
_SHORT_ID: Final = re.compile(r"([^/]+)/(?:([^/]+)/)?([^/]+)")


@attrs.frozen
class _Address:
    """A template's project, region (None for a global template) and name."""

    project: str
    region: str | None
    name: str

    @property
    def scope(self) -> str:
        return f"regions/{self.region}" if self.region else "global"

    @property
    def id(self) -> str:
        return f"projects/{self.project}/{self.scope}/instanceTemplates/{self.name}"


class InstanceTemplate(InProject):
    """Instance templates, identified by name in `global/instanceTemplates` or `regions/R/instanceTemplates`."""

    token = "gcpx:compute:InstanceTemplate"
    model = InstanceTemplateModel
    query = InstanceTemplateQuery
    autoname = Autoname(property="name", pattern=NAME[0], max_length=63)
    left_out_of_imports = frozenset({"sourceInstance"})
    id_forms = (
        "projects/PROJECT/global/instanceTemplates/NAME",
        "projects/PROJECT/regions/REGION/instanceTemplates/NAME",
        "PROJECT/REGION/NAME",
        "PROJECT/NAME",
        "NAME",
        "a self link, also with ?uniqueId=",
    )
    operation_timeout = _TIMEOUT

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._earlier = EarlierInsertions(self.token)

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Violation]:
        """Check that what the properties name exists."""
        del olds
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, call, location.project, location.region)
        return checks.run(inputs, instance_checks(checks, nested(inputs, "properties"), ("properties",)))

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return scope and name, which two templates cannot share; None for a generated name."""
        return None if inputs.get(AUTONAMED) else self._address(inputs)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict the project. Properties that come from a source instance cannot be predicted."""
        return {"project": self._project(inputs), "kind": "compute#instanceTemplate"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Insert the template, then read it by the numeric ID that the operation returns."""
        address = self._address(inputs)
        body = codec.to_body(self.type, inputs)
        collection = self._collection(address, beta=codec.uses_beta(self.type, inputs))
        with keeping_state(partial(self._unread_template, address, inputs)) as creation:
            inserted = collection.insert(call, body)
            creation.created(inserted.operation)
            named = _named_by(address, inserted.operation)
            live = self._live(named, collection.read_inserted(call, named.name, inserted.operation))
        self._earlier.warn(call, collection, inserted.operation)
        return attrs.evolve(live, adopted=inserted.earlier)

    def settle(self, call: Call, resource_id: str) -> None:
        """Wait for what interrupted runs are still inserting."""
        address = self._parse(resource_id)
        self._collection(address, beta=False).settle(call, address.name)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Read by name; a template with another numeric ID is not this resource."""
        address = self._parse(resource_id)
        beta = self._needs_beta(call, address) if inputs is None else codec.uses_beta(self.type, inputs)
        collection = self._collection(address, beta=beta)
        template = collection.get_own(call, address.name)
        if template is None or _has_other_unique_id(resource_id, template):
            return None
        return self._live(address, template)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by numeric ID, so that another template of this name stays."""
        address = self._parse(resource_id)
        self._collection(address, beta=False).delete(call, address.name)

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List the templates of a region, or those of all scopes."""
        templates = ImportableResources(
            google=self._google,
            project=self._project(query),
            version="v1",
            collection="instanceTemplates",
            fields="selfLink,name",
            scope=f"regions/{name_of(query['region'])}" if query.get("region") else "",
            filter=query.get("filter"),
        )
        items, next_token = templates.read_page(call, token, size)
        return Page([ListedResource(link_of(item), item["name"]) for item in items], next_token)

    def _needs_beta(self, call: Call, address: _Address) -> bool:
        """Return whether a template to be imported has beta properties, which only the beta path returns."""
        template = self._collection(address, beta=True).get(call, address.name)
        return template is not None and codec.uses_beta(
            self.type, state.minimal(self.type, codec.from_body(self.type, template))
        )

    def _unread_template(self, address: _Address, inputs: dict[str, Any], operation: dict[str, Any]) -> Live:
        named = _named_by(address, operation)
        return self._unread(named.id, {**inputs, "name": named.name, "project": named.project}, operation)

    def _live(self, address: _Address, template: dict[str, Any]) -> Live:
        properties = codec.from_body(self.type, template)
        unique_link = f"{template.get('selfLink', '')}?uniqueId={template.get('id')}"
        region = {"region": address.region} if address.region else {}
        return Live(address.id, {**properties, "project": address.project, "selfLinkUnique": unique_link, **region})

    def _collection(self, address: _Address, *, beta: bool) -> Collection:
        return Collection(
            google=self._google,
            version="beta" if beta else "v1",
            project=address.project,
            path=f"{address.scope}/instanceTemplates",
            timeout=_TIMEOUT,
            view="FULL" if beta else None,  # the default view leaves out partner metadata
        )

    def _address(self, inputs: dict[str, Any]) -> _Address:
        region = inputs.get("region")
        return _Address(
            self._project(inputs) or "",
            name_of(region) if region and region is not UNKNOWN else None,
            inputs.get("name", ""),
        )

    def _parse(self, resource_id: str) -> _Address:
        path = path_of(resource_id)
        parts = _FULL_ID.fullmatch(path) or _SHORT_ID.fullmatch(path)
        if parts:
            return _Address(parts[1], parts[2], parts[3])
        project = self._google.settings.project
        if project and NAME[0].fullmatch(path):
            return _Address(project, None, path)
        raise InvalidId(self.token, resource_id, self.id_forms)


def _named_by(address: _Address, operation: dict[str, Any]) -> _Address:
    """Return the address of the template that an operation creates."""
    return attrs.evolve(address, name=inserted_name(operation, address.name))


def _has_other_unique_id(resource_id: str, template: dict[str, Any]) -> bool:
    """Return whether an ID ends with `?uniqueId=` and the numeric ID of another template."""
    _, has_unique_id, unique_id = resource_id.partition("?uniqueId=")
    return bool(has_unique_id) and unique_id != str(template.get("id"))
