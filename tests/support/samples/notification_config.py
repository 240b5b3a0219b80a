from __future__ import annotations

from hypothesis import strategies as st
from programs import BUCKET, NOTIFICATION, PROJECT, notification
from sample import ApiObject, Edit, Life, Sample, inputs_with
from valid import names, secret_words, words

_PATH = f"b/{BUCKET}/notificationConfigs/1"
_EVENTS = ["OBJECT_FINALIZE", "OBJECT_DELETE", "OBJECT_ARCHIVE", "OBJECT_METADATA_UPDATE"]

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
    later_calls=(),
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
)  # fmt: skip
