"""Every declared property matches Google's published API descriptions."""

from __future__ import annotations

import functools
import json
from importlib import resources

import attrs
import pytest
from samples import SAMPLES

from gcpx.compute.get_operation import Operation
from gcpx.compute.list_functions import AggregatedInstances, AggregatedInstanceTemplates, InstanceTemplates, Regions
from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, object_type
from gcpx.provider import resource_class

OWN = {sample.token: sample.own for sample in SAMPLES.values()}
RESULTS = {
    AggregatedInstances: ("compute.v1", "compute.beta", "InstanceAggregatedList"),
    AggregatedInstanceTemplates: ("compute.v1", "compute.v1", "InstanceTemplateAggregatedList"),
    InstanceTemplates: ("compute.v1", "compute.beta", "InstanceTemplateList"),
    Regions: ("compute.v1", "compute.beta", "RegionList"),
    Operation: ("compute.v1", "compute.beta", "Operation"),
}
"""The results of functions, with their schemas."""
MERGED = {"warnings": "warning", "unreachables": "unreachables"}
"""Fields of lists that are merged from all pages."""
SPEC_ONLY = {("AttachedDisk", "userLicenses")}
"""Fields that the API documentation has and the published description lacks."""
SPEC_BETA = {
    ("Scheduling", "hostErrorTimeoutSeconds"),
    ("Scheduling", "maxRunDuration"),
    ("Scheduling", "onInstanceStopAction"),
    ("Scheduling", "terminationTime"),
    ("ConfidentialInstanceConfig", "confidentialInstanceType"),
}
"""Fields that are beta in the API documentation, although the published description has them in v1."""
SPEC_VALUES = {("GuestOsFeature", "type"): {"SUSPEND_RESUME_COMPATIBLE"}}
FINGERPRINTS = {
    ("MachineImage", "labelFingerprint"),
    ("Metadata", "fingerprint"),
    ("Tags", "fingerprint"),
    ("NetworkInterface", "fingerprint"),
}
"""Fields that clients send only with updates; users do not set them, so they are outputs."""


@functools.cache
def _document(name):
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    return json.loads((folder / f"{name}.json").read_text())["schemas"]


def _resolved(schemas, spec):
    return schemas[spec["$ref"]] if "$ref" in spec else spec


def _objects(kind, stable, beta, spec):
    """Yield each object type with the schemas of both versions and its own schema."""
    yield kind, stable, beta, spec
    for prop in kind.properties.values():
        inner, schema = prop.type, spec.get("properties", {}).get(prop.wire)
        while isinstance(inner, ListOf | MapOf) and schema is not None:
            schema = _resolved(beta, schema)
            schema = schema.get("items") or schema.get("additionalProperties")
            inner = inner.item
        if isinstance(inner, ObjectType) and schema is not None:
            yield from _objects(inner, stable, beta, _resolved(beta, schema))


@attrs.frozen
class Case:
    """An object type to compare: `v1` and `beta` hold the schemas of each version, `spec` is its own."""

    token: str
    kind: ObjectType
    v1: dict
    beta: dict
    spec: dict


def _cases():
    for sample in SAMPLES.values():
        documents = _document(sample.api.v1), _document(sample.api.beta)
        kind = object_type(resource_class(sample.token).model)
        seen = set()
        for found, v1, latest, spec in _objects(kind, *documents, documents[1][sample.api.name]):
            if found.name not in seen:
                seen.add(found.name)
                case = Case(sample.token, found, v1, latest, spec)
                yield pytest.param(case, id=f"{sample.token.rpartition(':')[2]}-{found.name}")


CASES = list(_cases())


def _result_cases():
    seen = set()
    for record, (stable, beta, name) in RESULTS.items():
        documents = _document(stable), _document(beta)
        for found, v1, latest, spec in _objects(object_type(record), *documents, documents[1][name]):
            if found.name not in seen:
                seen.add(found.name)
                yield pytest.param(Case(stable, found, v1, latest, spec), id=f"{name}-{found.name}")


RESULT_CASES = list(_result_cases())


def _wire(name, spec):
    return MERGED[name] if name in MERGED and (name not in spec) else name


@pytest.mark.parametrize("case", RESULT_CASES)
def test_results_declare_every_field(case):
    declared = {_wire(prop.wire, case.spec["properties"]) for prop in case.kind.properties.values()}
    ours = {name for owner, name in SPEC_ONLY if owner == case.spec.get("id")}

    assert set(case.spec["properties"]) <= declared
    more = declared - ours - set(case.spec["properties"]) - {"unreachables"}
    assert all(prop.traits.beta for prop in case.kind.properties.values() if prop.wire in more), (
        "fields that v1 lacks are beta"
    )


@pytest.mark.parametrize("case", RESULT_CASES)
def test_types_in_results_match_the_api(case):
    for prop in case.kind.properties.values():
        if prop.wire in case.spec["properties"] and prop.name != "warnings":
            _assert_same_type(
                f"{case.kind.name}.{prop.name}", prop, prop.type, case.beta, case.spec["properties"][prop.wire]
            )


@pytest.mark.parametrize("case", RESULT_CASES)
def test_values_in_results_match_the_api(case):
    for prop in case.kind.properties.values():
        known = _resolved(case.beta, case.spec["properties"].get(prop.wire, {})).get("enum")
        if known and prop.traits.enum:
            ours = set(prop.traits.enum) - SPEC_VALUES.get((case.kind.name, prop.name), set())
            assert ours >= {value for value in known if "UNSPECIFIED" not in value}, f"{case.kind.name}.{prop.name}"


@pytest.mark.parametrize("case", CASES)
def test_resources_declare_exactly_the_fields_of_the_api(case):
    declared = {prop.wire for prop in case.kind.properties.values()} - OWN[case.token]
    ours = {name for owner, name in SPEC_ONLY if owner == case.spec.get("id")}
    model = resource_class(case.token).model
    omitted = model.OMIT - {"source"} if case.kind.name == model.__name__ else set()

    assert declared - ours == set(case.spec["properties"]) - omitted


@pytest.mark.parametrize("case", CASES)
def test_types_match_the_api(case):
    for prop in case.kind.properties.values():
        if prop.wire in case.spec["properties"]:
            _assert_same_type(
                f"{case.kind.name}.{prop.name}", prop, prop.type, case.beta, case.spec["properties"][prop.wire]
            )


def _assert_same_type(where, prop, kind, schemas, spec):
    spec = _resolved(schemas, spec)
    if isinstance(kind, ListOf):
        assert spec["type"] == "array", where
        _assert_same_type(where, prop, kind.item, schemas, spec["items"])
    elif isinstance(kind, MapOf):
        _assert_same_type(where, prop, kind.item, schemas, spec["additionalProperties"])
    elif isinstance(kind, ObjectType):
        assert spec["type"] == "object", where
    elif spec.get("format") == "int64" and kind == Scalar("integer"):
        assert prop.traits.int64, f"{where} is a string in JSON"
    else:
        assert kind.name == spec["type"], where


@pytest.mark.parametrize("case", CASES)
def test_values_match_the_api(case):
    for prop in case.kind.properties.values():
        known = _resolved(case.beta, case.spec["properties"].get(prop.wire, {})).get("enum")
        if known:
            ours = set(prop.traits.enum) - SPEC_VALUES.get((case.kind.name, prop.name), set())
            assert ours == {value for value in known if "UNSPECIFIED" not in value}, f"{case.kind.name}.{prop.name}"


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_the_fields_that_only_the_server_sets(case):
    for prop in case.kind.properties.values():
        field = case.spec["properties"].get(prop.wire)
        if (
            field is not None
            and not prop.traits.in_url
            and (case.spec.get("id"), prop.name) not in FINGERPRINTS
            and not case.token.startswith("gcpx:storage")
        ):
            text = field.get("description", "")
            by_server = (
                field.get("readOnly", False) or "[Output Only]" in text or prop.name in {"securityPolicy", "sha256"}
            )
            assert prop.traits.output == by_server or case.kind.name in {"InitialStateConfig", "FileContentBuffer"}, (
                f"{case.kind.name}.{prop.name}"
            )


@pytest.mark.parametrize("case", CASES)
def test_beta_fields_are_beta_in_the_documentation_or_the_description(case):
    stable = (
        case.v1[case.spec["id"]]["properties"]
        if case.spec.get("id") in case.v1
        else case.spec["properties"]
        if "id" not in case.spec
        else {}
    )
    for prop in case.kind.properties.values():
        if prop.wire in case.spec["properties"] or (case.spec.get("id"), prop.name) in SPEC_ONLY:
            expected = prop.wire not in stable or (case.spec.get("id"), prop.name) in SPEC_BETA
            assert prop.traits.beta == expected, f"{case.kind.name}.{prop.name}"


@pytest.mark.parametrize("case", CASES)
def test_no_description_is_copied_from_google(case):
    assert case.kind.description.endswith(".")
    for prop in case.kind.properties.values():
        assert prop.traits.description.endswith("."), f"{case.kind.name}.{prop.name}"
        assert prop.traits.description not in case.spec["properties"].get(prop.wire, {}).get("description", "")
