"""The base of Compute resources that are identified by name, such as templates and machine images."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import attrs

from gcpx.compute.collection import Collection, has_created
from gcpx.compute.insertion import (
    EarlierInsertions,
    Insertion,
    deletion_command,
    insert_once,
    inserted_name,
    orphan_warning,
)
from gcpx.compute.listing import ImportableResources
from gcpx.compute.operations import Operation, Outcome, Wait, requested_at
from gcpx.compute.reference import NAME
from gcpx.errors import RUN_AGAIN, ProviderError, UserError, safe_message
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import exists_already, keeping_state
from gcpx.gcp.errors import Conflict, NotFound, Rejected, Unfinished
from gcpx.gcp.in_project import InProject, Lookups
from gcpx.gcp.list_method import link_of
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec, lifecycle
from gcpx.model.context import Context
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.ownership import Owner, owner
from gcpx.model.resource import InvalidId, ListedResource, Page, State
from gcpx.model.times import moment
from gcpx.model.values import UNKNOWN


@attrs.frozen
class Address:
    """The address of a resource.

    Attributes:
        path: scope and collection, such as `global/machineImages`.
    """

    project: str
    path: str
    name: str

    @property
    def id(self) -> str:
        """The resource's ID."""
        return f"projects/{self.project}/{self.path}/{self.name}"

    @property
    def region(self) -> str | None:
        """The name of the region; None for a global resource."""
        scope = self.path.rpartition("/")[0]
        return name_of(scope) if scope.startswith("regions/") else None


class NamedResource(InProject):
    """Resources that are identified by a name in a global or regional collection.

    Attributes:
        collection: the collection's name, such as `machineImages`.
        version: the API version, `v1` or `beta`.
    """

    collection: ClassVar[str]
    version: ClassVar[str]
    operation_timeout: ClassVar[float]
    autoname = Autoname(property="name", max_length=63)

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._earlier = EarlierInsertions()

    @cached_property
    def is_regional(self) -> bool:
        """Whether the resource may be in a region."""
        return "region" in self.type.inputs

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return place and name; None for a generated name."""
        return None if inputs.get(AUTONAMED) is True else self._address(inputs)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict the project and the kind."""
        return {"project": self._project(inputs), "kind": f"compute#{self.collection[:-1]}"}

    def parameters(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the query parameters of a creation."""
        del inputs
        return {}

    def beta(self, inputs: dict[str, Any] | None) -> bool:
        """Return whether requests need the beta version; `inputs` are None in an import."""
        del inputs
        return False

    def create(self, context: Context, inputs: dict[str, Any]) -> State:
        """Insert the resource, then read it by the numeric ID that the operation returns."""
        address = self._address(inputs)
        collection = self._collection(address, beta=self.beta(inputs))

        def named_by(operation: Mapping[str, Any]) -> Address:  # an earlier run may have generated another name
            return attrs.evolve(address, name=inserted_name(operation, address.name))

        def unread(operation: Mapping[str, Any]) -> State:
            # Google writes the numeric ID as a string. A value of another type is part of a malformed response.
            named, target = named_by(operation), operation.get("targetId")
            number = target if isinstance(target, str) and target else None
            place = {"name": named.name, "project": named.project, "numericId": number}
            return State.unread(named.id, {**inputs, **place})

        insertion = _NamedInsertion(
            context=context,
            operations=collection.operations,
            scope=collection.scope,
            name=address.name,
            earlier=self._earlier,
            collection=collection,
            query=self.parameters(inputs),
            body=codec.to_body(self.type, inputs),
        )
        with keeping_state(context, unread) as progress:
            try:
                inserted = insert_once(insertion)
                operation = inserted.outcome.result()
            except Conflict as error:
                raise exists_already(error, context, address.id, "choose another name") from error
            progress.created(operation)
            named = named_by(operation)
            found = collection.get_inserted(context, named.name, operation)
            if found is None:
                raise NotFound(
                    f"Google does not return {named.path}/{named.name}, or returns a different resource with this name"
                )
            state = attrs.evolve(self.state(named, found), adopted=inserted.earlier)
        self._warn_of_earlier(context, collection, state)
        return state

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for the insertions of interrupted runs."""
        address = self._parse(resource_id)
        self._collection(address).settle(context, address.name)

    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read by name; a resource with another numeric ID is not this one."""
        address = self._parse(resource_id)
        collection = self._collection(address, beta=self.beta(inputs))
        found = collection.get_own(context, address.name)
        unique_id = resource_id.partition("?uniqueId=")[2]
        if found is None or (unique_id and str(found.get("id")) != unique_id):
            return None
        return self.state(address, found)

    def creates(self, olds: dict[str, Any], inputs: dict[str, Any]) -> bool:
        """Return whether inputs create the resource or a replacement; `olds` are the last inputs, or empty."""
        return not olds or any(change.replaces for change in lifecycle.plan(self, olds, inputs, {}).changes)

    def identity(self, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return the full path; an import may use the bare name."""
        del outputs
        try:
            return self._parse(resource_id).id
        except UserError:
            return resource_id

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete by numeric ID, so that another resource of this name stays."""
        address = self._parse(resource_id)
        self._collection(address).delete(context, address.name)

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the resources of a region, or of all scopes."""
        scope = "" if self.is_regional else "global"
        resources = ImportableResources(
            google=self._google,
            project=self._project(query),
            version=self.version,
            collection=self.collection,
            fields="selfLink,name",
            scope=f"regions/{name_of(query['region'])}" if query.get("region") else scope,
            filter=query.get("filter"),
        )
        items, next_token = resources.read_page(context, token, size)
        return Page([ListedResource(link_of(item), item["name"]) for item in items], next_token)

    def _collection(self, address: Address, *, beta: bool = False) -> Collection:
        return Collection(
            google=self._google,
            version="beta" if beta else self.version,
            project=address.project,
            path=address.path,
            timeout=self.operation_timeout,
            view="FULL" if beta else None,  # the default view leaves out beta properties, such as partner metadata
        )

    def state(self, address: Address, found: dict[str, Any]) -> State:
        """Describe a resource as Google returns it (REST JSON)."""
        properties = {**codec.from_body(self.type, found), "project": address.project}
        return State(address.id, {**properties, "region": address.region} if address.region else properties)

    def _address(self, inputs: dict[str, Any]) -> Address:
        region = inputs.get("region")
        scope = f"regions/{name_of(region)}" if region and region is not UNKNOWN else "global"
        return Address(self._project(inputs) or "", f"{scope}/{self.collection}", inputs.get("name", ""))

    def _parse(self, resource_id: str) -> Address:
        """Read `[projects/P/]SCOPE/COLLECTION/NAME`, `P[/REGION]/NAME`, or a name alone."""
        path, project = path_of(resource_id), self._google.settings.project
        full = re.fullmatch(rf"(?:projects/([^/]+)/)?((?:global|regions/[^/]+)/{self.collection})/([^/]+)", path)
        if full and (self.is_regional or full[2].startswith("global/")) and (full[1] or project):
            return Address(full[1] or project or "", full[2], full[3])
        short = path.split("/")
        if len(short) == 1 and project and NAME.pattern.fullmatch(path):
            return Address(project, f"global/{self.collection}", path)
        if all(short) and len(short) in ({2, 3} if self.is_regional else {2}):
            scope = f"regions/{short[1]}" if short[2:] else "global"
            return Address(short[0], f"{scope}/{self.collection}", short[-1])
        raise InvalidId(self.token, resource_id, self.id_forms)

    def _warn_of_earlier(self, context: Context, collection: Collection, own: State) -> None:
        """Warn of resources that earlier runs inserted and that no state has; `own` is the newly created one."""
        if not context.autonamed:
            return
        for operation in self._earlier.of_resource(context, collection.operations, collection.scope):
            target = operation.get("targetId")
            if target == own.properties["numericId"]:
                continue
            try:
                name = inserted_name(collection.named(context, operation), "")
                resource_id = collection.id_of(name)
                if context.is_replaced(name, target) or context.urn_of(resource_id) is not None:
                    continue
                found = collection.get_inserted(context, name, operation) if name else None
            except ProviderError:
                continue
            if found is not None:
                command = deletion_command(collection.project, collection.path, name)
                context.warn(orphan_warning(context, resource_id, command))


@attrs.frozen(kw_only=True)
class _NamedInsertion(Insertion):
    """The insertion of a resource into its collection.

    Attributes:
        earlier: the insertions of earlier runs.
        query: the query parameters of the request.
        body: the inputs as REST JSON.
    """

    refusals_of_repetition = (Conflict, Rejected)
    earlier: EarlierInsertions
    collection: Collection
    query: dict[str, Any]
    body: dict[str, Any]

    @property
    def content(self) -> list[Any]:
        """Return collection and body, without a generated name, because every run generates another."""
        hidden = {"name"} if self.context.autonamed else frozenset()
        return [self.collection.url, {key: value for key, value in self.body.items() if key not in hidden}]

    def request(self, request_id: str) -> Request:
        """Return the request, which is retried as long as the operation may take."""
        return Request(
            api=COMPUTE,
            method="POST",
            path=self.collection.url,
            query={**self.query, "requestId": request_id},
            body=self.body,
            patience=self.context.timeout or self.collection.timeout,
        )

    def sent_earlier(self, request_id: str) -> Operation | None:
        """Look for the request among earlier runs' requests."""
        return self.earlier.find_recent(self.context, self.operations, self.scope, request_id)

    def exists(self) -> bool:
        """Return whether a resource exists with this name; false for a generated name, which others do not use."""
        return not self.context.autonamed and self.collection.get(self.context, self.name) is not None

    def wait(self, operation: Operation) -> Outcome:
        """Wait for the insertion."""
        target = inserted_name(operation, self.name)
        wait = Wait(f"insert {self.collection.path}/{target}", self.collection.timeout)
        outcome = self.operations.outcome(self.context, operation, wait)
        try:
            return attrs.evolve(outcome, operation=self.collection.named(self.context, outcome.operation))
        except ProviderError as error:
            raise Unfinished(safe_message(error, wait.what), outcome.operation, RUN_AGAIN) from error

    def was_known(self, operation: Operation) -> bool:
        """Return whether the state or the replaced resource has the numeric ID."""
        target = operation.get("targetId")
        return target == self.context.prior.get("numericId") or self.context.is_replaced(target)

    def thing(self, operation: Operation) -> str:
        """Return the ID of the resource."""
        return self.collection.id_of(inserted_name(operation, self.name))

    def owner(self, outcome: Outcome) -> Owner:
        """Decide who owns an operation's result: possibly another resource of the state, or the replaced one.

        If Google still shows the former resource of the name, it does not show the operation's result yet.
        """
        context, operation = self.context, outcome.operation
        name, target = inserted_name(operation, self.name), str(operation.get("targetId"))
        if outcome.error is not None:
            return Owner.NOBODY
        if context.is_anothers(self.collection.id_of(name)):
            return Owner.OTHER_RESOURCE
        is_replaced = context.is_replaced(target) or (context.autonamed and context.is_replaced(name))
        live = self.collection.get(context, name)
        if live is not None and not has_created(operation, live):
            created = moment(live.get("creationTimestamp"))
            if created is None or created >= requested_at(operation):
                return Owner.THEIRS
            live = None

        def made_by_us() -> bool:
            # The shown resource may be gone, too: a read may lag behind.
            return target not in self.operations.deleted_since(context, self.scope, operation)

        return owner(target if live else None, made_by_us, is_in_state=is_replaced or context.is_blocked)
