"""The pages of the reference, `docs/reference/*.md`: one for each resource and each function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Final

from gcpx.compute.reference import rest
from gcpx.model.fields import Property, object_type
from gcpx.model.resource import Resource
from gcpx.model.values import format_path
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class
from generate.example_tabs import tabs
from generate.examples import example_of
from generate.package_schema import package
from generate.property_tables import Table, nested_types
from generate.schema_types import Json

_NO_OPERATIONS: Final = "Google carries these calls out at once, so there is no time limit for an operation."
_NOWHERE: Final[Mapping[str, str]] = {}
FOLDER: Final = "docs/reference"
_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"
"""The resource with the page that describes shared types."""
_GUIDES: Final = {
    "gcpx:compute:BulkInstances": "[fleets](../fleets.md)",
    "gcpx:compute:InstanceTemplate": "[instance templates](../templates.md)",
}
_REFERENCES: Final = {
    "gcpx:compute:BulkInstances": f"{rest('regionInstances.bulkInsert')}, {rest('instances')}",
    "gcpx:compute:DiskAttachment": rest("instances.attachDisk"),
    "gcpx:compute:InstanceTemplate": f"{rest('instanceTemplates')}, {rest('instances')}",
    "gcpx:compute:MachineImage": rest("machineImages"),
    "gcpx:compute:aggregatedListInstanceTemplates": rest("instanceTemplates.aggregatedList"),
    "gcpx:compute:aggregatedListInstances": rest("instances.aggregatedList"),
    "gcpx:compute:getOperation": f"{rest('globalOperations')}, {rest('regionOperations')}, {rest('zoneOperations')}",
    "gcpx:compute:listInstanceTemplates": rest("instanceTemplates.list"),
    "gcpx:compute:listRegions": rest("regions.list"),
    "gcpx:oslogin:SshKey": "[users.sshPublicKeys](https://cloud.google.com/compute/docs/oslogin/rest/v1/users.sshPublicKeys)",
    "gcpx:storage:NotificationConfig": "[notifications](https://cloud.google.com/storage/docs/json_api/v1/notifications)",
}
"""Google's documentation of each resource or function: the default source of limits."""
_READ: Final = "[How to read this page](../resources.md#how-to-read-a-page-of-the-reference)"
_TIMEOUTS: Final = (
    "`customTimeouts` of the resource limits {verbs}, each as a whole: with all requests, repetitions and waits. "
    "[Reliability](../reliability.md#cancellation-and-time-limits) says what happens then. "
)


def path_of(token: str) -> str:
    """Return the path of a page: `docs/reference/ssh-key.md` for `gcpx:oslogin:SshKey`."""
    return f"{FOLDER}/{example_of(token)}.md"


def pages() -> dict[str, Callable[[], str]]:
    """Return the function for the text of each page, by its path."""
    resources = {path_of(token): partial(_resource, token) for token in RESOURCES}
    return {**resources, **{path_of(token): partial(_function, token) for token in FUNCTIONS}}


@cache
def _package() -> Json:
    return package()


def _resource(token: str) -> str:
    resource = resource_class(token)
    kind = object_type(resource.model)
    elsewhere = _described_by_resources(except_on=path_of(token))
    inputs = Table(kind, resource.in_place, elsewhere)
    opening, more = _opening(kind.description)
    return _page(
        f"# {_name(token)}\n\n`{token}`\n\n{opening}\n\n{_overview(resource)}\n{more}\n",
        _example(_package()["resources"][token], example_of(token)),
        f"## Inputs\n\n{_READ}.\n\n{inputs.text(kind.inputs.values())}\n{inputs.rules()}",
        _outputs(Table(kind, elsewhere=elsewhere)),
        _types(kind.properties.values(), elsewhere),
        _import(resource),
        _timeouts(resource),
        _permissions(_name(token)),
        _list(resource),
    )


def _function(token: str) -> str:
    function = function_class(token)
    arguments, result = object_type(function.arguments), object_type(function.result)
    table, elsewhere = Table(arguments), _described_by_resources()
    return _page(
        f"# {_name(token)}\n\n`{token}`\n\n{function.description} {_google_says(token)}\n",
        _example(_package()["functions"][token], example_of(token)),
        f"## Arguments\n\n{arguments.description} {_READ}.\n\n{table.text(arguments.inputs.values())}\n{table.rules()}",
        f"## Result\n\n{result.description}\n\n{Table(result, elsewhere=elsewhere).text(result.properties.values())}",
        _types(result.properties.values(), elsewhere),
        _permissions("Functions"),
    )


def _page(*sections: str) -> str:
    return "\n".join(section.rstrip() + "\n" for section in sections if section)


def paths_in_place(resource: type[Resource[Any]]) -> str:
    """List the inputs of a resource that change in place."""
    inputs = object_type(resource.model).inputs
    paths = sorted(f"`{format_path(path)}`" for path in resource.in_place if path[0] in inputs)
    return ", ".join(paths) or "nothing"


def _opening(description: str) -> tuple[str, str]:
    """Return the first two sentences, for the beginning of a page, and the others, for after its first table."""
    sentences = re.split(r"(?<=\.) (?=[A-Z`]|gcpx )", description)
    return " ".join(sentences[:2]), " ".join(sentences[2:])


def _overview(resource: type[Resource[Any]]) -> str:
    """Return a table with the answers to users' first questions."""
    rows = {
        "guide": _GUIDES.get(resource.token, ""),
        "Google's reference": _REFERENCES[resource.token],
        "changes in place": paths_in_place(resource),
        "any other change": "replaces the resource",
        "ID": f"`{resource.id_forms[0]}`, [and other forms](#import)",
    }
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {said} |" for name, said in rows.items() if said), ""])


def _google_says(token: str) -> str:
    return f"Google's reference: {_REFERENCES[token]}." if token in _REFERENCES else ""


def _name(token: str) -> str:
    return token.rpartition(":")[2]


def _example(described: Json, folder: str) -> str:
    """Show the example in all languages of the schema."""
    program = f"[examples/{folder}](../../examples/{folder})"
    return f"## Example\n\n{tabs(described['description'])}\nThe whole program, with its settings, is in {program}.\n"


def _outputs(table: Table) -> str:
    outputs = [prop for prop in table.kind.properties.values() if prop.traits.output]
    words = f" In addition, there are:\n\n{table.text(outputs)}" if outputs else ""
    return f"## Outputs\n\nAll inputs are also outputs, and so is `id`, the resource's ID at Google.{words}\n"


def _types(properties: Iterable[Property], elsewhere: Mapping[str, str] = _NOWHERE) -> str:
    """Describe the types of properties, except those that other pages describe."""
    kinds = [kind for kind in nested_types(*properties) if kind.name not in elsewhere]
    return _page("## Types", *(_type(Table(kind, elsewhere=elsewhere)) for kind in kinds)) if kinds else ""


def _type(table: Table) -> str:
    kind = table.kind
    return f"### {kind.name}\n\n{kind.description}\n\n{table.text(kind.properties.values())}\n{table.rules()}"


@cache
def _described_by_resources(except_on: str = "") -> dict[str, str]:
    """Return the page that describes a type, by the type's name, without the types of one page."""
    found: dict[str, str] = {}
    for token in sorted(RESOURCES, key=lambda token: token != _TEMPLATE):
        for kind in nested_types(*object_type(resource_class(token).model).properties.values()):
            found.setdefault(kind.name, path_of(token))
    return {name: path.removeprefix(f"{FOLDER}/") for name, path in found.items() if path != except_on}


def _import(resource: type[Resource[Any]]) -> str:
    forms = "\n".join(f"- {form}" if " " in form else f"- `{form}`" for form in resource.id_forms)
    command = f"```sh\npulumi import {resource.token} NAME {resource.id_forms[0]}\n```"
    guide = "[Adopt what exists](../adopting.md) says what an import does."
    return f"## Import\n\n{command}\n\nThe ID has one of these forms:\n\n{forms}\n\n{guide}\n"


def _timeouts(resource: type[Resource[Any]]) -> str:
    verbs = "a creation, an update or a deletion" if resource.in_place else "a creation or a deletion"
    limit = resource.operation_timeout
    default = (
        f"Without it, gcpx waits {limit / 60:g} minutes for each operation of Google." if limit else _NO_OPERATIONS
    )
    return f"## Timeouts\n\n{_TIMEOUTS.format(verbs=verbs)}{default}\n"


def _permissions(section: str) -> str:
    link = f"[The page of permissions](../permissions.md#{section.lower()})"
    return f"## Permissions\n\n{link} lists the permissions that each verb needs, and has a custom role with them.\n"


def _list(resource: type[Resource[Any]]) -> str:
    query = object_type(resource.query)
    guide = f"[`pulumi do {resource.token} list`](../adopting.md#list-what-exists)"
    words = f"{guide} lists what exists. Arguments: {query.description[0].lower()}{query.description[1:]}"
    return f"## List\n\n{words}\n\n{Table(query).text(query.inputs.values())}"
