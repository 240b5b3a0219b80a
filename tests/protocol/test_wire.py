"""Any value survives encoding and decoding, secrets stay hidden, and markers and paths have the engine's form."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from engines.driver import struct
from google.protobuf import json_format, struct_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import rpc as sdk
from values.programs import NOTIFICATION, notification

from gcpx.compute.instance_template import InstanceTemplateModel
from gcpx.model.fields import object_type
from gcpx.model.redaction import redact
from gcpx.model.secrecy import mark_secrets, secret_texts
from gcpx.model.values import UNKNOWN, Secret, format_path, has_unknown, reveal
from gcpx.protocol import wire

texts = st.text(max_size=8) | st.builds(
    "{}{}".format, st.text("\\", max_size=2), st.sampled_from([*wire.UNKNOWNS, wire.SIGNATURE])
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.just(UNKNOWN)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4) | inner.map(Secret),
    max_leaves=20,
)


@pytest.mark.search
@given(st.dictionaries(texts, values, max_size=4))
def test_decoding_restores_every_encoded_value(value):
    assert wire.decode(wire.encode(value)) == value


@pytest.mark.parametrize(
    "kind",
    [
        wire.SECRET,
        wire.RESOURCE,
        wire.OUTPUT,
        "c44067f5952c0a294b673a41bacd8c17",
        "0def7320c3a5731c473e5ecbe6d01bc7",
        "x",
    ],
)
def test_what_google_returns_is_no_secret_asset_or_unknown_for_the_engine(engine, cloud, kind):
    made = engine.create(NOTIFICATION, "n", notification(customAttributes={"a": "b"}))
    path = f"b/{made.id}"
    attributes = {wire.SIGNATURE: kind, "value": "v", "urn": "u", "text": "t", "unknown": wire.UNKNOWN_STRING}
    cloud.emulator.store.put(path, {**cloud.get(path), "custom_attributes": attributes})

    found = engine.import_(NOTIFICATION, "n", made.id)
    assert sdk.deserialize_properties(struct(found.outputs))["customAttributes"] == {
        **{key: value for key, value in attributes.items() if key not in {wire.SIGNATURE, "unknown"}},
        f"\\{wire.SIGNATURE}": kind,
        "unknown": f"\\{wire.UNKNOWN_STRING}",
    }
    assert engine.drift(found) == set()


def test_markers_match_the_sdk():
    folder = Path(importlib.util.find_spec("pulumi").origin).parent
    source = (folder / "runtime" / "rpc.py").read_text()
    for marker in (wire.SIGNATURE, wire.SECRET, wire.RESOURCE, wire.OUTPUT, wire.UNKNOWN_STRING):
        assert f'"{marker}"' in source
    assert all(re.fullmatch(r"[0-9a-f-]{36}", marker) for marker in wire.UNKNOWNS)


def _struct(value):
    return json_format.ParseDict({"x": value}, struct_pb2.Struct())


@pytest.mark.parametrize("sentinel", sorted(wire.UNKNOWNS))
def test_every_unknown_is_recognised(sentinel):
    assert wire.decode(_struct([{"a": sentinel}])) == {"x": [{"a": UNKNOWN}]}


def test_resource_references_and_outputs_are_decoded_to_their_values():
    reference = {wire.SIGNATURE: wire.RESOURCE, "urn": "urn:x", "id": "the-id"}
    output = {wire.SIGNATURE: wire.OUTPUT, "value": 1, "secret": True, "dependencies": []}

    assert wire.decode(_struct(reference)) == {"x": "the-id"}
    assert wire.decode(_struct(output)) == {"x": Secret(1)}
    assert wire.decode(_struct({wire.SIGNATURE: wire.OUTPUT})) == {"x": UNKNOWN}


KIND = object_type(InstanceTemplateModel)
secrets = st.text("abcdefgh", min_size=5, max_size=12)


@pytest.mark.search
@given(secret=secrets, other=texts, order=st.permutations([0, 1]))
def test_a_secret_is_hidden_wherever_it_appears(secret, other, order):
    inputs = {
        "description": Secret(secret),
        "properties": {"labels": {"a": Secret(secret), "b": other}, "disks": [{"source": Secret(secret)}, {}]},
    }
    disks = [reveal(inputs)["properties"]["disks"][index] for index in order]
    outputs = {
        "selfLink": f"https://x/{secret}/y",
        "name": secret,
        "properties": {"labels": {"a": secret, "b": other}, "disks": disks},
    }
    shown = mark_secrets(KIND, outputs, inputs)

    assert reveal(shown) == outputs
    assert secret not in repr(shown)
    assert secret not in redact(f"Google says: {secret}!", secret_texts(KIND, inputs))


def test_a_property_that_is_declared_secret_is_always_hidden():
    key = {"rawKey": "c2VjcmV0", "kmsKeyName": None}
    shown = mark_secrets(KIND, {"properties": {"disks": [{"diskEncryptionKey": key}]}})

    assert shown["properties"]["disks"][0]["diskEncryptionKey"]["rawKey"] == Secret("c2VjcmV0")


@pytest.mark.search
@given(values)
def test_reveal_removes_every_wrapper_and_keeps_unknowns(value):
    assert not isinstance(reveal(value), Secret)
    assert has_unknown(value) == has_unknown(reveal(value))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("a", "b", 0, "c"), "a.b[0].c"),
        (("labels", "x.y/z"), 'labels["x.y/z"]'),
        (("a", 'q"uote'), 'a["q\\"uote"]'),
        (("a", ""), 'a[""]'),
        ((), ""),
    ],
)
def test_paths_have_the_form_that_the_engine_reads(path, expected):
    assert format_path(path) == expected
