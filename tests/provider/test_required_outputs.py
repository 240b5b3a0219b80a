"""Every output that the schema requires is present, at every depth, after each operation."""

from __future__ import annotations

import pytest
from generate.package_schema import declared
from samples import INPUTS
from servers import plain_http
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template  # fmt: skip

SCHEMA = declared()


def _missing(spec, value, path=""):
    """Return the paths of the required properties that a value lacks."""
    if "$ref" in spec and spec["$ref"].startswith("#/types/"):
        spec = SCHEMA["types"][spec["$ref"].removeprefix("#/types/")]
    if isinstance(value, list):
        return [name for item in value for name in _missing(spec["items"], item, f"{path}[]")]
    if not isinstance(value, dict):
        return []
    if "additionalProperties" in spec:
        return [name for item in value.values() for name in _missing(spec["additionalProperties"], item, f"{path}.*")]
    properties = spec.get("properties", {})
    lacking = [f"{path}.{name}" for name in spec.get("required", ()) if value.get(name) is None]
    below = (_missing(properties[name], item, f"{path}.{name}") for name, item in value.items() if name in properties)
    return lacking + [name for names in below for name in names]


@pytest.mark.parametrize("token", INPUTS)
def test_resources_have_all_required_outputs(engine, cloud, vm, token):
    created = engine.create(token, "x", INPUTS[token])
    imported = engine.import_(token, "y", created.id)
    spec = SCHEMA["resources"][token]

    assert spec["required"]
    for found in (created, engine.refresh(created), engine.update(created, INPUTS[token]), imported):
        assert _missing(spec, found.outputs) == []


def _token(cloud):
    order = {"email": "a@b.c", "audience": "https://example.com/push"}
    return plain_http.post(f"http://{cloud.host}/_emulator/tokens", json=order).json()["token"]


@pytest.mark.parametrize(
    ("token", "arguments"),
    [
        ("gcpx:compute:aggregatedListInstances", {}),
        ("gcpx:compute:aggregatedListInstances", {"itemFields": ["status"]}),
        ("gcpx:compute:aggregatedListInstances", {"filter": "name = nobody"}),
        ("gcpx:compute:aggregatedListInstanceTemplates", {}),
        ("gcpx:compute:aggregatedListInstanceTemplates", {"itemFields": ["kind"]}),
        ("gcpx:compute:listInstanceTemplates", {"itemFields": ["kind"]}),
        ("gcpx:compute:listInstanceTemplates", {"maxResults": 1}),
        ("gcpx:compute:listRegions", {}),
        ("gcpx:compute:listRegions", {"omitQuotas": True}),
        ("gcpx:compute:listRegions", {"itemFields": ["status"]}),
    ],
)
def test_lists_return_all_required_outputs(engine, cloud, vm, token, arguments):
    for name in ("a", "b"):
        engine.create(TEMPLATE, name, {**template(), "name": name})
    answer = engine.invoke(token, **arguments)

    assert SCHEMA["functions"][token]["outputs"]["required"]
    assert _missing(SCHEMA["functions"][token]["outputs"], answer) == []


def test_other_functions_return_all_required_outputs(engine, cloud):
    engine.create(FLEET, "workers", fleet(1))
    operation = next(iter(cloud.emulator.operations.list(PROJECT, "regions/us-east1")))
    good = {"token": _token(cloud), "audience": "https://example.com/push", "serviceAccountEmail": "a@b.c"}
    answers = {
        "gcpx:compute:getOperation": [engine.invoke("gcpx:compute:getOperation", name=operation["selfLink"])],
        "gcpx:oauth2:getTokenInfo": [engine.invoke("gcpx:oauth2:getTokenInfo", idToken=good["token"])],
        "gcpx:pubsub:verifyPushToken": [
            engine.invoke("gcpx:pubsub:verifyPushToken", **given) for given in (good, {**good, "audience": "x"})
        ],
    }

    assert answers["gcpx:pubsub:verifyPushToken"][0]["valid"]
    for token, found in answers.items():
        for answer in found:
            assert _missing(SCHEMA["functions"][token]["outputs"], answer) == []
