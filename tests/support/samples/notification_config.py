from __future__ import annotations

from engines.driver import secret
from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import BUCKET, MARKER, NOTIFICATION, PROJECT, TOPICS, notification
from values.sample import ApiObject, Edit, Life, Program, Sample, inputs_with
from values.valid import names, secret_words, words

_PATH = f"b/{BUCKET}/notificationConfigs/1"
_EVENTS = ["OBJECT_FINALIZE", "OBJECT_DELETE", "OBJECT_ARCHIVE", "OBJECT_METADATA_UPDATE"]


def _surround(cloud: Emulated) -> None:
    cloud.make_bucket()
    cloud.make_topics()
    stranger = {"topic": f"//pubsub.googleapis.com/{TOPICS[0]}", "payload_format": "NONE"}
    cloud.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", stranger)


SAMPLE = Sample(
    token=NOTIFICATION,
    inputs=notification(),
    any_inputs=inputs_with(
        {"bucket": st.just(BUCKET), "topic": st.sampled_from(["uploads", f"projects/{PROJECT}/topics/uploads", "//pubsub.googleapis.com/projects/other/topics/audit"])},
        {
            "eventTypes": st.lists(st.sampled_from(_EVENTS), max_size=4, unique=True),
            "customAttributes": st.dictionaries(names, secret_words, max_size=3),
            "objectNamePrefix": words,
            "payloadFormat": st.sampled_from(["JSON_API_V1", "NONE"]),
        },
    ),
    api=ApiObject("Notification", "storage.v1", "storage.v1"),
    own={"bucket", "userProject"},
    read_method="storage.notifications.get",
    lives={
        "notification": Life(
            inputs=notification(topic="uploads", eventTypes=["OBJECT_FINALIZE", "OBJECT_DELETE"], customAttributes={"a": "b"}),
            path=_PATH,
            drift=None,
            edits=[
                Edit({"objectNamePrefix": "in/"}, "replace", {"objectNamePrefix"}),
                Edit({"payloadFormat": "NONE"}, "replace", {"payloadFormat"}),
            ],
            imports=[
                f"{BUCKET}/notificationConfigs/1",
                f"projects/_/buckets/{BUCKET}/notificationConfigs/1",
                f"https://www.googleapis.com/storage/v1/b/{BUCKET}/notificationConfigs/1",
            ],
        )
    },
    changed_by=("storage.notifications.insert", "storage.notifications.delete"),
    programs={"notification": Program(inputs=notification(eventTypes=["OBJECT_FINALIZE"]))},
    surround=_surround,
    declared=inputs_with(
        {},
        {"eventTypes": st.sampled_from([["OBJECT_FINALIZE"], ["OBJECT_DELETE"]]), "customAttributes": st.just({"password": secret(MARKER)})},
    ).map(lambda more: notification(**more)),
    provisional_ids=frozenset({f"{BUCKET}/notificationConfigs/new"}),
    identity_of=lambda resource: f"b/{resource.id}",
)  # fmt: skip
