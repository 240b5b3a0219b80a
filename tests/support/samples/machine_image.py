from __future__ import annotations

from engines.driver import secret
from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import IMAGE, MARKER, PROJECT, VM, image
from values.sample import ApiObject, Edit, Inputs, Life, Program, Sample, changing, inputs_with
from values.valid import labels, secret_words

_PATH = f"projects/{PROJECT}/global/machineImages/golden"


def _surround(cloud: Emulated) -> None:
    if cloud.get(VM) is None:
        cloud.make_instance()
    cloud.post(f"/compute/beta/projects/{PROJECT}/global/machineImages?sourceInstance={VM}", {"name": "stranger"})


def _identity(inputs: Inputs) -> str | None:
    name = inputs.get("name")
    return f"projects/{PROJECT}/global/machineImages/{name.rpartition('/')[2]}" if name else None


_RELABEL: Inputs = {"labels": {"a": "2"}}
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
    changed_by=("compute.machineImages.insert", "compute.machineImages.delete", "compute.machineImages.setLabels"),
    programs={
        "image": Program(inputs=image(labels={"a": "1"}), updates={"relabel": _RELABEL}, other={"description": "new"}),
        "image_named": Program(inputs=image(name="golden"), updates={"relabel": _RELABEL}, other={"description": "new"}),
    },
    surround=_surround,
    declared=inputs_with(
        {},
        {"name": st.just("golden"), "labels": st.sampled_from([{}, {"tier": "web"}, {"tier": "db"}]), "description": st.just(secret(MARKER))},
    ).map(lambda more: image(**more)),
    identity=_identity,
)  # fmt: skip
