"""Questions about the assumptions of docs/verified.md, with the answers that gcpx assumes."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from gcpx.errors import ProviderError
from gcpx.gcp.errors import ApiError, NotFound
from verify_google.place import Exchange, Place
from verify_google.steps import Skipped, raw_properties

_LAG: Final = 60.0
"""The time to look for something, in seconds."""
_GLOBAL: Final = "v1/projects/PROJECT/global/operations"
_PATH: Final = "v1/projects/PROJECT/global/instanceTemplates"


@attrs.frozen
class Question:
    """A question about an assumption.

    Attributes:
        assumption: the assumption of gcpx, in a few words.
        assumed: the answer that gcpx assumes.
        ask: finds the answer out.
    """

    assumption: str
    assumed: str
    ask: Callable[[Place], str]


def begin(place: Place) -> None:
    """Create a template twice with one request ID.

    It stores facts in the place for later questions.
    """
    request_id, body = str(uuid.uuid4()), {"name": f"{place.prefix}-q", "properties": raw_properties()}
    first = place.call("POST", _PATH, body, requestId=request_id)
    place.facts |= {"request": request_id, "first": first, "operation": first["name"], "waited": place.done(first)}
    try:
        place.facts["second"] = place.call("POST", _PATH, body, requestId=request_id)
    except ApiError as error:
        place.facts["second"] = error


def _repeated(place: Place) -> str:
    first, second = _fact(place, "first"), _fact(place, "second")
    if isinstance(second, ApiError):
        return f"refused with {second.status} {second.reason}"
    if second.get("name") != first["name"]:
        return "another operation"
    return f"the same operation, {second.get('status')}"


def _fact(place: Place, name: str) -> Any:
    if name not in place.facts:
        raise Skipped("the template of the questions could not be created")
    return place.facts[name]


def _wait(place: Place) -> str:
    name = _fact(place, "first")["name"]
    return f"answers with {place.call('POST', f'{_GLOBAL}/{name}/wait').get('status')}"


def _client_id(place: Place) -> str:
    return "yes" if _fact(place, "first").get("clientOperationId") == place.facts["request"] else "no"


def _filtered(field: str, value: Callable[[Place], str], path: str, form: str = '{} = "{}"') -> Callable[[Place], str]:
    """Ask whether a list of operations obeys a filter."""

    def ask(place: Place) -> str:
        wanted = value(place)
        found = place.call("GET", path.format(zone=place.zone), filter=form.format(field, wanted)).get("items", [])
        if not found:
            return "finds nothing"
        fits = all(str(item.get(field, "")).startswith(wanted) for item in found)
        return "finds only what fits" if fits else "is ignored"

    return ask


def _newest_first(place: Place) -> str:
    items = place.call("GET", _GLOBAL, orderBy="creationTimestamp desc", maxResults=20).get("items", [])
    times = [item.get("insertTime", "") for item in items]
    return "newest first" if times == sorted(times, reverse=True) else "another order"


def _masked(place: Place) -> str:
    found = place.call("GET", f"{_PATH}/{place.prefix}-q", fields="name")
    return "yes" if found.keys() == {"name"} else "no"


def _numeric_deletion(place: Place) -> str:
    number = _fact(place, "waited").get("targetId")
    try:
        place.done(place.call("DELETE", f"{_PATH}/{number}", requestId=str(uuid.uuid4())))
    except ApiError as error:
        return f"refused with {error.status} {error.reason}"
    return "accepted"


def _until(look: Callable[[], bool]) -> str:
    """Look until something is visible; say after how many seconds."""
    begun = time.monotonic()
    while time.monotonic() < begun + _LAG:
        if look():
            waited = time.monotonic() - begun
            return "at once" if waited < 1.0 else f"after {waited:.0f} s"
        time.sleep(0.5)
    return f"not within {_LAG:.0f} s"


def _read_at_once(place: Place) -> str:
    """Create a template, also for the question about lists; say when a read shows it."""
    body = {"name": f"{place.prefix}-s", "properties": raw_properties()}
    place.done(place.call("POST", _PATH, body, requestId=str(uuid.uuid4())))

    def listed() -> bool:
        items = place.call("GET", _PATH, filter=f"name = {place.prefix}-s").get("items", [])
        return any(item["name"] == body["name"] for item in items)

    place.facts["listed"] = _until(listed)

    def read() -> bool:
        try:
            return bool(place.call("GET", f"{_PATH}/{place.prefix}-s"))
        except NotFound:
            return False

    return _until(read)


def _of(place: Place, *methods: str) -> list[Exchange]:
    found = [item for item in place.recorder.kept if item.method in methods and item.status == 200]  # noqa: PLR2004 - a status
    if not found:
        raise Skipped(f"no response of {methods[0]} was recorded")
    return found


_INSERTIONS: Final = (
    "compute.instanceTemplates.insert",
    "compute.regionInstanceTemplates.insert",
    "compute.machineImages.insert",
    "compute.instances.attachDisk",
)


def _operations(place: Place, *methods: str) -> Iterable[dict[str, Any]]:
    return [item.response for item in _of(place, *methods)]


def _target_links(place: Place) -> str:
    links = [item["targetLink"] for item in _operations(place, *_INSERTIONS)]
    kinds = {"a number" if link.rpartition("/")[2].isdigit() else "the name" for link in links}
    return " and ".join(sorted(kinds))


def _links(place: Place) -> str:
    links = [item["targetLink"] for item in _operations(place, *_INSERTIONS)]
    return " and ".join(sorted({re.sub(r"/(?:v1|beta)/projects/.*", "/VERSION/...", link) for link in links}))


def _project_in_links(place: Place) -> str:
    links = [item["targetLink"] for item in _operations(place, *_INSERTIONS)]
    return "its number" if any("projects/NUMBER" in link for link in links) else "its ID"


def _type(method: str) -> Callable[[Place], str]:
    return lambda place: " and ".join(sorted({str(item.get("operationType")) for item in _operations(place, method)}))


_BULK: Final = "compute.regionInstances.bulkInsert"
_WAITS: Final = ("compute.regionOperations.wait", "compute.regionOperations.get", _BULK)


def _group(place: Place) -> str:
    return "yes" if all(item.get("operationGroupId") for item in _operations(place, _BULK)) else "no"


def _group_id(place: Place) -> str:
    found = next((item.get("operationGroupId") for item in _operations(place, _BULK)), None)
    if not found:
        raise Skipped("a bulk creation has no operationGroupId")
    return str(found)


def _per_location(place: Place) -> str:
    done = [item for item in _operations(place, *_WAITS) if item.get("operationType", "").endswith("bulkInsert")]
    ended = [item for item in done if item.get("status") == "DONE"]
    if not ended:
        raise Skipped("no bulk creation was seen at its end")
    found = [item.get("instancesBulkInsertOperationMetadata", {}).get("perLocationStatus") for item in ended]
    return "yes" if all(found) else "no"


def _instances_filtered(place: Place) -> str:
    lists = [
        item for item in _of(place, "compute.instances.list") if "labels.gcpx-bulk" in item.query.get("filter", "")
    ]
    items = [item for one in lists for item in one.response.get("items", [])]
    if not items:
        return "finds nothing"
    return "finds only what fits" if all("gcpx-bulk" in item.get("labels", {}) for item in items) else "is ignored"


def _oslogin(method: str) -> Callable[[Place], str]:
    def ask(place: Place) -> str:
        fields = {", ".join(sorted(item.response or {})) or "nothing" for item in _of(place, method)}
        return " or ".join(sorted(fields))

    return ask


def _topic(place: Place) -> str:
    topics = [item.response.get("topic", "") for item in _of(place, "storage.notifications.insert")]
    return " and ".join(sorted({"with the host" if one.startswith("//") else "without the host" for one in topics}))


def _defaults(place: Place) -> str:
    return "yes" if all("payload_format" in item.response for item in _of(place, "storage.notifications.get")) else "no"


def _request(place: Place) -> str:
    return str(_fact(place, "request"))


def _request_beginning(place: Place) -> str:
    return _request(place)[:18]


_FITS: Final = "finds only what fits"
_CLIENT_ID: Final = "clientOperationId"
_ZONAL: Final = "v1/projects/PROJECT/zones/{zone}/operations"
_KEY: Final = "expirationTimeUsec, fingerprint, key, name"
_TYPES: Final = {
    "compute.instanceTemplates.insert": "compute.instanceTemplates.insert",
    "compute.instanceTemplates.delete": "delete",
    "compute.regionInstanceTemplates.insert": "compute.regionInstanceTemplates.insert",
    "compute.regionInstanceTemplates.delete": "delete",
    "compute.machineImages.insert": "insert",
    "compute.machineImages.delete": "delete",
    "compute.machineImages.setLabels": "setLabels",
    "compute.instances.attachDisk": "attachDisk",
    "compute.instances.setDiskAutoDelete": "setDiskAutoDelete",
    "compute.regionInstances.bulkInsert": "bulkInsert",
}
"""The assumed types of operations, by method."""
QUESTIONS: Final = (
    Question("a repeated request ID returns", "the same operation, DONE", _repeated),
    Question("an operation shows the request ID as clientOperationId", "yes", _client_id),
    Question("operations.wait", "answers with DONE", _wait),
    Question("a filter of operations by clientOperationId", _FITS, _filtered(_CLIENT_ID, _request, _GLOBAL)),
    Question(
        "a filter by the beginning of clientOperationId",
        _FITS,
        _filtered(_CLIENT_ID, _request_beginning, _GLOBAL, "{} eq {}.*"),
    ),
    Question("a list of operations by time", "newest first", _newest_first),
    Question("field masks are obeyed", "yes", _masked),
    Question("a new template is read", "at once", _read_at_once),
    Question("a new template is listed", "at once", lambda place: str(_fact(place, "listed"))),
    Question("a deletion by numeric ID is", "accepted", _numeric_deletion),
    Question("links of targets end in", "the name", _target_links),
    Question("links begin with", "https://www.googleapis.com/compute/VERSION/...", _links),
    Question("links name the project by", "its ID", _project_in_links),
    *(Question(f"the type of the operation of {method}", kind, _type(method)) for method, kind in _TYPES.items()),
    Question("a bulk creation has an operationGroupId", "yes", _group),
    Question("a filter of operations by operationGroupId", _FITS, _filtered("operationGroupId", _group_id, _ZONAL)),
    Question("a bulk creation has a status of each location", "yes", _per_location),
    Question("a filter of instances by label", _FITS, _instances_filtered),
    Question("OS Login answers a creation with", _KEY, _oslogin("oslogin.users.sshPublicKeys.create")),
    Question("OS Login answers a deletion with", "nothing", _oslogin("oslogin.users.sshPublicKeys.delete")),
    Question("a notification names its topic", "with the host", _topic),
    Question("a notification shows its defaults", "yes", _defaults),
)
"""In the order of asking: some need the answers before them."""


def answer(question: Question, place: Place) -> str:
    """Ask a question; return the answer or, in brackets, why there is none."""
    try:
        return question.ask(place)
    except Skipped as reason:
        return f"(not asked: {reason})"
    except ProviderError as error:
        return f"(failed: {place.recorder.masked(str(error))})"
    except (KeyError, TypeError, AttributeError) as error:
        return f"(the response has another form: {type(error).__name__} {place.recorder.masked(str(error))})"
