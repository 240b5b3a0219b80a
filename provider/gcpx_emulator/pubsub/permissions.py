"""The permissions that calls of Pub/Sub need.

Source: "Authentication for push subscriptions" and "Access control with IAM" in the documentation of Pub/Sub.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import declare_needs, need


def _pusher(call: Call) -> Iterator[str]:
    """List the service account that signs pushes, if the push settings in the request have one."""
    fields = str(call.body.get("updateMask") or call.query.get("updateMask") or "pushConfig").split(",")
    if any(field.strip().partition(".")[0] in {"pushConfig", "push_config"} for field in fields):
        config = (call.body.get("subscription") or call.body).get("pushConfig") or {}
        email = (config.get("oidcToken") or {}).get("serviceAccountEmail")
        if email:
            yield email


def _topic(call: Call) -> Iterator[str]:
    yield f"projects/{call.path['projectsId']}/topics/{call.path['topicsId']}"


PUBLISH: Final = "pubsub.topics.publish"
PUBLISHERS: Final = frozenset({"roles/pubsub.publisher", "roles/pubsub.editor", "roles/pubsub.admin", "roles/editor",
                               "roles/owner"})  # fmt: skip
"""The predefined roles that have the permission to publish."""
_SET_PUSH_CONFIG: Final = (need(_pusher, "iam.serviceAccounts.actAs on the service account if a push signs as one"),)
declare_needs(
    {
        "pubsub.projects.topics.get": (need(_topic, "pubsub.topics.get on the topic"),),
        "pubsub.projects.topics.publish": (need(_topic, f"{PUBLISH} on the topic"),),
        "pubsub.projects.subscriptions.create": _SET_PUSH_CONFIG,
        "pubsub.projects.subscriptions.modifyPushConfig": _SET_PUSH_CONFIG,
        "pubsub.projects.subscriptions.patch": _SET_PUSH_CONFIG,
    }
)
