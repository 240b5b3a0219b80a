"""The IAM policies of topics, subscriptions, snapshots and schemas."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.iam import UNSET_POLICY, replace_policy, shown_policy
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import held_permissions
from gcpx_emulator.pubsub.schemas import read_schema
from gcpx_emulator.pubsub.snapshots import read_snapshot
from gcpx_emulator.pubsub.topics_and_subscriptions import policy_path, read_subscription, read_topic

_READ: Final = {
    "topics": read_topic,
    "subscriptions": read_subscription,
    "snapshots": read_snapshot,
    "schemas": read_schema,
}
"""What reads a resource with a policy, by the name of its collection."""
_METHODS: Final = tuple(f"pubsub.projects.{kind}." for kind in _READ)


def _name(call: Call) -> str:
    """Return the name of the resource that a call names, which must exist."""
    return str(_READ[call.method.id.split(".")[2]](call)["name"])


@handles(*(f"{prefix}getIamPolicy" for prefix in _METHODS))
def get_policy(call: Call) -> Json:
    """Read a policy."""
    policy = call.store.get(policy_path(_name(call))) or UNSET_POLICY
    return shown_policy(policy, call.query.get("options.requestedPolicyVersion"))


@handles(*(f"{prefix}setIamPolicy" for prefix in _METHODS))
def set_policy(call: Call) -> Json:
    """Replace a policy, if the etag in the request is the current one."""
    return replace_policy(call.store, policy_path(_name(call)), call.body.get("policy") or {})


@handles(*(f"{prefix}testIamPermissions" for prefix in _METHODS))
def test_permissions(call: Call) -> Json:
    """Return the permissions of the request that the caller has."""
    held = held_permissions(call, _name(call), call.body.get("permissions") or [])
    return {"permissions": held} if held else {}
