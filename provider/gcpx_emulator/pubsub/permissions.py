"""The permissions that calls of Pub/Sub need.

Source: "Authentication for push subscriptions" and "Access control with IAM" in the documentation of Pub/Sub.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import Need, declare_needs

_ACT_AS: Final = "iam.serviceAccounts.actAs"
_GET_TOPICS: Final = "pubsub.topics.get"


def _act_as_pusher(config: Json | None) -> Iterator[Need]:
    """Need to act as the service account that signs pushes, if the push settings name one."""
    email = ((config or {}).get("oidcToken") or {}).get("serviceAccountEmail")
    if email:
        yield Need((_ACT_AS,), email)


def _set_push_config(call: Call) -> Iterator[Need]:
    return _act_as_pusher(call.body.get("pushConfig"))


def _patch(call: Call) -> Iterator[Need]:
    fields = str(call.body.get("updateMask") or "").split(",")
    if any(field.strip().partition(".")[0] in {"pushConfig", "push_config"} for field in fields):
        yield from _act_as_pusher((call.body.get("subscription") or {}).get("pushConfig"))


def _get_topic(call: Call) -> Iterator[Need]:
    yield Need((_GET_TOPICS,), f"projects/{call.path['projectsId']}/topics/{call.path['topicsId']}")


declare_needs(
    [_ACT_AS, _GET_TOPICS],
    {
        "pubsub.projects.topics.get": _get_topic,
        "pubsub.projects.subscriptions.create": _set_push_config,
        "pubsub.projects.subscriptions.modifyPushConfig": _set_push_config,
        "pubsub.projects.subscriptions.patch": _patch,
    },
)
