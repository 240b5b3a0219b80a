from __future__ import annotations

from hypothesis import strategies as st
from programs import IMAGE, PROJECT, VM, image
from sample import ApiObject, Edit, Life, Sample, changing, inputs_with
from valid import labels, secret_words

_PATH = f"projects/{PROJECT}/global/machineImages/golden"

SAMPLE = Sample(
    token=IMAGE,
    inputs=image(),
    any_inputs=inputs_with(
        {"sourceInstance": st.just(VM)},
        {"description": secret_words, "labels": labels, "guestFlush": st.booleans(), "storageLocations": st.sampled_from([["us"], ["eu"]])},
    ),
    api=ApiObject.compute("MachineImage"),
    own={"project"},
    read_method="compute.machineImages.get",
    later_calls=("compute.globalOperations.wait", "compute.machineImages.get"),
    lives={
        "image": Life(
            inputs=image(name="golden", labels={"a": "1"}, storageLocations=["us"], guestFlush=True),
            path=_PATH,
            drift=(changing(_PATH, lambda body: body["labels"].update(a="2")), "labels.a"),
            edits=[
                Edit({"labels": {"a": "1", "b": "2"}}, "update", {"labels.b"}),
                Edit({"labels": None}, "update", {"labels"}),
                Edit({"description": "new"}, "replace", {"description"}),
            ],
            imports=["golden", f"{PROJECT}/golden", _PATH, f"https://www.googleapis.com/compute/beta/{_PATH}"],
        )
    },
)  # fmt: skip
