"""The page of what the emulator covers: the text of `docs/emulator-coverage.md`.

The methods are those of Google's published descriptions, and those that have a handler. The records of
`emulator_record` have the handling of the requests' fields, and the clients of each method.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Final

import gcpx_emulator.services  # noqa: F401 - registers what the emulator serves
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.discovery import APIS, methods_of
from generate.emulator_record import KEPT, NOT_SHOWN, REFUSED, TAKEN, Row, read_clients, read_fields

_KINDS: Final = {
    "Instances": ("compute.instances", "compute.regionInstances"),
    "Instance templates": ("compute.instanceTemplates", "compute.regionInstanceTemplates"),
    "Instance groups": ("compute.instanceGroupManagers", "compute.instanceGroups"),
    "Disks and snapshots": ("compute.disks", "compute.regionDisks", "compute.snapshots", "compute.storagePools"),
    "Images and machine images": ("compute.images", "compute.machineImages"),
    "Resource policies and reservations": ("compute.resourcePolicies", "compute.reservations"),
    "Networks and addresses": (
        *("compute.networks", "compute.subnetworks", "compute.firewalls"),
        *("compute.addresses", "compute.globalAddresses", "compute.routes"),
    ),
    "Operations": ("compute.globalOperations", "compute.regionOperations", "compute.zoneOperations"),
    "What every project has": (
        *("compute.projects", "compute.regions", "compute.zones", "compute.machineTypes", "compute.diskTypes"),
        *("compute.acceleratorTypes", "compute.storagePoolTypes", "compute.advice"),
    ),
    "Buckets and notifications": (
        "storage.buckets",
        "storage.managedFolders",
        "storage.notifications",
        "storage.projects.serviceAccount",
    ),
    "Objects": ("storage.objects",),
    "HMAC keys": ("storage.projects.hmacKeys",),
    "Access control lists": (
        "storage.bucketAccessControls",
        "storage.defaultObjectAccessControls",
        "storage.objectAccessControls",
    ),
    "Topics": tuple(f"pubsub.projects.topics{below}" for below in ("", ".snapshots", ".subscriptions")),
    "Schemas": ("pubsub.projects.schemas",),
    "Subscriptions and their snapshots": ("pubsub.projects.subscriptions", "pubsub.projects.snapshots"),
    "Users and their SSH keys": ("oslogin.users", "oslogin.users.sshPublicKeys"),
    "Projects and their IAM policies": ("cloudresourcemanager.projects",),
    "Service accounts": ("iam.projects.serviceAccounts",),
    "ID tokens": ("iamcredentials.projects.serviceAccounts",),
}
"""The kinds of resources, with their collections of methods."""
_APIS: Final = {
    "compute": "Compute v1 and beta",
    "storage": "Cloud Storage",
    "pubsub": "Pub/Sub",
    "oslogin": "OS Login v1, v1beta and v1alpha",
    "cloudresourcemanager": "Cloud Resource Manager",
    "iam": "IAM",
    "iamcredentials": "IAM Service Account Credentials",
}
_WORDS: Final = {
    (KEPT, True): "Kept and checked",
    (KEPT, False): "Kept",
    (TAKEN, True): "Taken and checked",
    (TAKEN, False): "Taken",
    (NOT_SHOWN, True): "Not shown and checked",
    (NOT_SHOWN, False): "Not shown",
    (REFUSED, True): "Refused",
    (REFUSED, False): "Refused",
}
_INTRODUCTION: Final = """# What the emulator covers

This page lists every method of the APIs that [the emulator](emulator.md) serves, and what happens to the fields of its
request. It is generated from Google's published descriptions, from the emulator's code, and from what tests observe. A
method that is not served is answered with the status 501. The pages for checking ID tokens, `tokeninfo` and the
certificates, are not listed.

The emulator checks the name, the type and, of an enum, the value of every field against the description, and refuses
what does not fit with the status 400. What else happens to a field:

| class | a request with the field is | a read then |
| --- | --- | --- |
| kept | accepted | shows it, or what it changes |
| not shown | accepted | does not show what was sent, or shows it in another place, as Google does |
| taken | accepted | does not show it: it is a condition of the request, or the emulator ignores it |
| refused | refused with the status 501, because it is not emulated, or 400, because it cannot change | |
| ... and checked | refused if the value has the right type but makes no sense, such as an unknown name or -1 | |

Tests send each field alone, together with the fields that the request requires. A field that is kept need not have an
effect; [the guide](emulator.md) describes effects. Nested fields are observed together with the field that contains
them, apart from those in the properties, disks, interfaces and scheduling of a template, and in the new disks of an
instance. "Not recorded" means that no test observes the fields of the request one by one. "None" means that the request
has no body.

"Driven by" names the clients whose requests the emulator has answered in tests: gcpx, Google's libraries for Python
(`google-cloud-*` and `google-api-python-client`), and the requests that Terraform's provider is known to send. If it
names none, none of them has called the method in a test.
"""


@cache
def _described() -> dict[str, dict[str, bool]]:
    """Return the methods in Google's descriptions, by collection: each with whether its request has a body."""
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    found: dict[str, dict[str, bool]] = {}
    for name in APIS:
        for method in methods_of(json.loads((folder / f"{name}.json").read_text())):
            collection, _, verb = method["id"].rpartition(".")
            found.setdefault(collection, {})[verb] = "request" in method
    return found


def text() -> str:
    """Return the text of the page."""
    return "\n".join([_INTRODUCTION, *_figures(), *_sections(), *_unserved()])


def _served(collection: str) -> list[str]:
    return [verb for verb in sorted(_described()[collection]) if f"{collection}.{verb}" in HANDLERS]


def _figures() -> Iterator[str]:
    rows = read_fields()
    yield "| API | methods described | served | fields recorded | kept | not shown | taken | refused | checked |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for api, name in _APIS.items():
        collections = [collection for collection in _described() if collection.partition(".")[0] == api]
        of_api = [row for row in rows if row.method.partition(".")[0] == api]
        outcomes = [sum(row.outcome == outcome for row in of_api) for outcome in (KEPT, NOT_SHOWN, TAKEN, REFUSED)]
        figures = [
            sum(len(_described()[collection]) for collection in collections),
            sum(len(_served(collection)) for collection in collections),
            *(len(of_api), *outcomes, sum(row.checked for row in of_api)),
        ]
        yield f"| {name} | {' | '.join(map(str, figures))} |"
    yield ""


def _sections() -> Iterator[str]:
    clients, rows = read_clients(), read_fields()
    for kind, collections in _KINDS.items():
        yield f"## {kind}\n"
        yield "| method | driven by | fields |"
        yield "| --- | --- | --- |"
        served = [f"{collection}.{verb}" for collection in collections for verb in _served(collection)]
        for method in served:
            yield f"| `{_short(method)}` | {', '.join(sorted(clients.get(method, ())))} | {_fields_of(method, rows)} |"
        yield ""
        missing = [_short(f"{collection}.{verb}") for collection in collections for verb in _missing(collection)]
        if missing:
            yield from _folded(f"Not served ({len(missing)})", [_names(missing)])
        for method, found in groupby((row for row in rows if row.method in served), key=lambda row: row.method):
            own = list(found)
            yield from _folded(f"Fields of {_short(method)} ({len(own)})", list(_classes(own)))


def _short(method: str) -> str:
    """Leave out the API's name, and the common beginning of all methods of Pub/Sub and OS Login."""
    return method.partition(".")[2].removeprefix("projects.")


def _fields_of(method: str, rows: list[Row]) -> str:
    """Say where the page has the fields of a method's request: below, with another method, or nowhere."""
    collection, _, verb = method.rpartition(".")
    recorded = {row.method for row in rows}
    if not _described()[collection][verb]:
        return "none"
    if method in recorded:
        return "below"
    same = [other for other in sorted(recorded) if HANDLERS.get(other) is HANDLERS[method]]
    return f"as `{_short(same[0])}`" if same else "not recorded"


def _missing(collection: str) -> list[str]:
    return [verb for verb in sorted(_described()[collection]) if f"{collection}.{verb}" not in HANDLERS]


def _classes(rows: list[Row]) -> Iterator[str]:
    for words in dict.fromkeys(_WORDS.values()):
        names = [row.field for row in rows if _WORDS[row.outcome, row.checked] == words]
        if names:
            yield f"- {words}: {_names(names)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _folded(summary: str, lines: list[str]) -> Iterator[str]:
    yield from (f"<details><summary>{summary}</summary>", "", *lines, "", "</details>", "")


def _unserved() -> Iterator[str]:
    """List the collections without any emulated method."""
    yield "## Collections without any method that is served\n"
    known = {collection for collections in _KINDS.values() for collection in collections}
    forgotten = [collection for collection in _described() if _served(collection) and collection not in known]
    if forgotten:
        raise KeyError(f"these collections are of no kind: {', '.join(forgotten)}")
    for api, name in _APIS.items():
        names = [item for item in sorted(_described()) if item.partition(".")[0] == api and not _served(item)]
        if names:
            count = sum(len(_described()[item]) for item in names)
            yield from _folded(f"{name}: {len(names)} collections with {count} methods", [_names(map(_short, names))])
