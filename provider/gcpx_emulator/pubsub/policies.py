"""The IAM policies of topics, subscriptions, snapshots and schemas."""

from __future__ import annotations

import base64
from typing import Any, Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.iam import new_policy, shown_policy
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import held_permissions
from gcpx_emulator.pubsub.schemas import read_schema
from gcpx_emulator.pubsub.snapshots import read_snapshot
from gcpx_emulator.pubsub.topics_and_subscriptions import policy_path, read_subscription, read_topic

_UNSET: Final[Json] = {"etag": "ACAB"}
"""The policy of a resource before one is set: it has an etag, but no version."""
_READ: Final = {
    "topics": read_topic,
    "subscriptions": read_subscription,
    "snapshots": read_snapshot,
    "schemas": read_schema,
}
"""What reads a resource with a policy, by the name of its collection."""
_METHODS: Final = tuple(f"pubsub.projects.{kind}." for kind in _READ)


class _ConcurrentChangeError(ApiError):
    """The policy was changed since it was read."""

    def body(self, *form: Any) -> Json:
        """Return the body of the response, with the status of such errors."""
        body = super().body(*form)
        body["error"]["status"] = "ABORTED"
        return body


def _name(call: Call) -> str:
    """Return the name of the resource that a call names, which must exist."""
    return str(_READ[call.method.id.split(".")[2]](call)["name"])


@handles(*(f"{prefix}getIamPolicy" for prefix in _METHODS))
def get_policy(call: Call) -> Json:
    """Read a policy."""
    policy = call.store.get(policy_path(_name(call))) or _UNSET
    return shown_policy(policy, call.query.get("options.requestedPolicyVersion"))


@handles(*(f"{prefix}setIamPolicy" for prefix in _METHODS))
def set_policy(call: Call) -> Json:
    """Replace a policy, if the etag in the request is the current one."""
    name, given = _name(call), call.body.get("policy") or {}
    current, policy = call.store.get(policy_path(name)) or _UNSET, new_policy(given)
    if given.get("etag") not in (None, "", current["etag"]):
        why = "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."
        raise _ConcurrentChangeError(409, why, "aborted")
    etag = base64.b64encode(b"\x07" + call.store.next("policies").to_bytes(7)).decode()
    call.store.put(policy_path(name), {**policy, "etag": etag})
    return {**policy, "etag": etag}


@handles(*(f"{prefix}testIamPermissions" for prefix in _METHODS))
def test_permissions(call: Call) -> Json:
    """Return the permissions of the request that the caller has."""
    held = held_permissions(call, _name(call), call.body.get("permissions") or [])
    return {"permissions": held} if held else {}
