"""Topics."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.pubsub.durations import check_durations
from gcpx_emulator.pubsub.topics_and_subscriptions import create, list_resources, patch, read, subscriptions_of

_DELETED: Final = "_deleted-topic_"


def topic_name(call: Call) -> str:
    """Return the full name of the topic that a call names."""
    return f"projects/{call.path['projectsId']}/topics/{call.path['topicsId']}"


def read_topic(call: Call) -> Json:
    """Read the topic that a call names, which must exist."""
    return read(call.store, topic_name(call))


@handles("pubsub.projects.topics.create")
def create_topic(call: Call) -> Json:
    """Create a topic."""
    check_durations(call.body)
    return create(call.store, topic_name(call), call.body)


@handles("pubsub.projects.topics.get")
def get_topic(call: Call) -> Json:
    """Read a topic."""
    return read_topic(call)


@handles("pubsub.projects.topics.list")
def list_topics(call: Call) -> Json:
    """List the topics of a project."""
    return list_resources(call, "topics", call.store.list(f"projects/{call.path['projectsId']}/topics"))


@handles("pubsub.projects.topics.patch")
def patch_topic(call: Call) -> Json:
    """Change the fields in the update mask."""
    change = call.body.get("topic") or {}
    check_durations(change)
    return patch(call, "Topic", read_topic(call), change)


@handles("pubsub.projects.topics.delete")
def delete_topic(call: Call) -> Json:
    """Delete a topic; its subscriptions stay."""
    name = read_topic(call)["name"]
    for subscription in subscriptions_of(call.store, name):
        call.store.put(subscription["name"], subscription | {"topic": _DELETED})
    call.store.delete(name)
    return {}


@handles("pubsub.projects.topics.subscriptions.list")
def list_subscriptions_of_topic(call: Call) -> Json:
    """List the names of a topic's subscriptions."""
    subscriptions = subscriptions_of(call.store, read_topic(call)["name"])
    answer = list_resources(call, "subscriptions", [{"name": item["name"]} for item in subscriptions])
    names = [item["name"] for item in answer.get("subscriptions", ())]
    return answer | ({"subscriptions": names} if names else {})
