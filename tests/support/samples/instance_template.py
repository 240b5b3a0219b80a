from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import PROJECT, TEMPLATE, properties, template
from values.sample import CRASHES, FAULTS, ApiObject, Edit, Inputs, Life, Program, Sample, changing, inputs_with
from values.valid import SECRET_METADATA, labels, metadata, secret_words, words
from workspace import ROOT

_PARTS = ("machineType", "disks", "networkInterfaces")
_GLOBAL = f"projects/{PROJECT}/global/instanceTemplates/web"
_REGIONAL = f"projects/{PROJECT}/regions/us-east1/instanceTemplates/web"


def _pools() -> dict[str, list[Any]]:
    """Collect what templates of the corpus say, by property."""
    pools: dict[str, list[Any]] = {}
    for path in sorted((ROOT / "tests" / "corpus").glob("*.yaml")):
        for spec in yaml.load(path.read_text(), yaml.CSafeLoader)["resources"].values():
            for name, value in spec["properties"].get("properties", {}).items() if spec["type"] == TEMPLATE else ():
                if value not in pools.setdefault(name, []):
                    pools[name].append(value)
    return pools


_POOLS = _pools()
_PROPERTIES = inputs_with(
    {name: st.sampled_from(_POOLS[name]) for name in _PARTS},
    {name: st.sampled_from(_POOLS[name]) for name in _POOLS if name not in {*_PARTS, "labels", "metadata"}}
    | {"labels": labels, "metadata": metadata, "description": secret_words},
)


def _surround(cloud: Emulated) -> None:
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": "stranger", **template()})


def _declared(machine: str, has_secret: bool, more: Inputs) -> Inputs:
    return {"properties": properties(machineType=machine, **(SECRET_METADATA if has_secret else {})), **more}


def _identity(inputs: Inputs) -> str | None:
    scope = "regions/us-east1" if inputs.get("region") else "global"
    name = inputs.get("name")
    return f"projects/{PROJECT}/{scope}/instanceTemplates/{name.rpartition('/')[2]}" if name else None


_BIGGER = template(machineType="e2-medium")
SAMPLE = Sample(
    token=TEMPLATE,
    inputs=template(),
    any_inputs=inputs_with({"properties": _PROPERTIES}, {"description": words, "region": st.just("us-east1")}),
    api=ApiObject.compute("InstanceTemplate"),
    own={"project", "selfLinkUnique"},
    read_method="compute.instanceTemplates.get",
    lives={
        "template": Life(
            inputs={"name": "web", **template(labels={"app": "web"}, tags={"items": ["b", "a"]}, metadata={"items": [{"key": "k", "value": "v"}]})},
            path=_GLOBAL,
            drift=(changing(_GLOBAL, lambda body: body["properties"].update(machineType="e2-medium")), "properties.machineType"),
            edits=[
                Edit({"description": "new"}, "replace", {"description"}),
                Edit({"name": "web", **template(labels={"app": "api"})}, "replace", {"properties.labels.app", "properties.tags", "properties.metadata"}),
            ],
            imports=["web", f"{PROJECT}/web", _GLOBAL, f"https://www.googleapis.com/compute/v1/{_GLOBAL}"],
        ),
        "regional": Life(
            inputs={"name": "web", "region": "us-east1", **template(labels={"app": "web"})},
            path=_REGIONAL,
            drift=(changing(_REGIONAL, lambda body: body["properties"].update(labels={"app": "web", "drift.ed/x": "yes"})), 'properties.labels["drift.ed/x"]'),
            edits=[Edit({"region": "us-central1"}, "replace", {"region"})],
            imports=[f"{PROJECT}/us-east1/web", _REGIONAL],
        ),
    },
    changed_by=("compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert", "compute.instanceTemplates.delete"),
    programs={
        "template": Program(inputs=template(**SECRET_METADATA), other=_BIGGER),
        "template_named": Program(inputs={"name": "web", **template(**SECRET_METADATA)}, other=_BIGGER),
        "template_regional": Program(inputs={"name": "web", "region": "us-east1", **template()}, suites=frozenset({FAULTS})),
        "template_regional_generated": Program(inputs={"region": "us-east1", **template()}, other=_BIGGER, suites=frozenset({CRASHES})),
    },
    surround=_surround,
    declared=st.builds(
        _declared, st.sampled_from(["e2-small", "e2-medium"]), st.booleans(),
        inputs_with({}, {"name": st.just("web"), "region": st.just("us-east1"), "description": st.just("mine")}),
    ),
    identity=_identity,
)  # fmt: skip
