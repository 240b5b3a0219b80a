"""Check refuses at preview what Google would refuse only when it creates the resource."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.driver import UNKNOWN
from values.programs import FLEET, KEY, PROJECT, TEMPLATE, fleet, key, template

BOOT = {"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}
LABELS = "properties.labels"


def _disk(**parameters):
    return template(disks=[{**BOOT, "initializeParams": {**BOOT["initializeParams"], **parameters}}])


@pytest.mark.parametrize(("labels", "path", "words"), [
    ({"Team": "web"}, f"{LABELS}.Team", "'T' is refused"), ({"team": "Web"}, f"{LABELS}.team", "'W' is refused"),
    ({"team": "a b"}, f"{LABELS}.team", "' ' is refused"), ({"a.b": "c"}, f'{LABELS}["a.b"]', "'.' is refused"),
    ({"1st": "x"}, f"{LABELS}.1st", "begins with a letter, not with '1'"), ({"größe": "Größe"}, f"{LABELS}.größe", "'G' is refused"),
    ({"a": "v" * 64}, f"{LABELS}.a", "at most 63 characters; it has 64"), ({"a": "💥"}, f"{LABELS}.a", "'💥' is refused"),
    ({f"k{number}": "" for number in range(65)}, LABELS, "at most 64 labels; there are 65"),
])  # fmt: skip
def test_an_invalid_label_is_refused_with_the_character_at_fault(engine, labels, path, words):
    (found,) = engine.failures(TEMPLATE, template(labels=labels)).items()

    assert found[0] == path
    assert found[1].startswith("must ")
    assert words in found[1]


@pytest.mark.parametrize(
    "labels",
    [{"größe": "élan"}, {"色": "赤-1_a"}, {"команда": "веб"}, {"टीम": "वेब"}, {"a": "", "goog-x": "1"}, {"a": UNKNOWN}],
)
def test_labels_in_other_scripts_are_accepted(engine, labels):
    assert engine.failures(TEMPLATE, template(labels=labels)) == {}


@pytest.mark.parametrize(("token", "inputs"), [
    (TEMPLATE, template(networkInterfaces=UNKNOWN)), (TEMPLATE, template(disks=UNKNOWN)), (TEMPLATE, template(disks=[{**BOOT, "boot": UNKNOWN}])),
    (TEMPLATE, {"sourceInstance": "zones/us-east1-b/instances/vm"}), (TEMPLATE, {**template(), "region": UNKNOWN}),
    (TEMPLATE, template(machineType="n2-custom-4-8192-ext")), (TEMPLATE, template(resourcePolicies=["p", UNKNOWN])),
    (FLEET, {**fleet(1), "sourceInstanceTemplate": "regions/us-east1/instanceTemplates/t"}),
    (FLEET, {**fleet(1), "region": UNKNOWN, "sourceInstanceTemplate": "regions/us-west1/instanceTemplates/t"}),
    (FLEET, {**fleet(1), "sourceInstanceTemplate": "global/instanceTemplates/t", "instanceProperties": {"machineType": "e2-small"}}),
    (KEY, key(regions=["us-east1"], projectId=UNKNOWN)), (KEY, key(expirationTimeUsec="0")), (KEY, key(expirationTimeUsec=UNKNOWN)),
])  # fmt: skip
def test_inputs_that_may_be_valid_are_accepted(engine, token, inputs):
    assert engine.failures(token, inputs) == {}


def test_a_fleet_refuses_a_template_of_another_region(cloud):
    given = {name: value for name, value in fleet(1).items() if name != "region"}
    given["sourceInstanceTemplate"] = "regions/us-west1/instanceTemplates/t"
    with driver.engine(project=PROJECT, region="regions/us-east1", emulatorHost=cloud.host) as engine:
        assert list(engine.failures(FLEET, given)) == ["sourceInstanceTemplate"]


def test_iops_out_of_bounds_are_a_warning_for_the_default_disk_type(engine):
    assert engine.failures(TEMPLATE, _disk(provisionedIops=5)) == {}
    assert [text for _, _, text in engine.log.messages if "provisionedIops should be 10,000 to 120,000" in text]
    engine.log.messages.clear()
    assert engine.failures(TEMPLATE, _disk(provisionedIops=5, diskType=UNKNOWN)) == {}
    assert not engine.log.messages


def test_a_malformed_project_in_the_environment_is_refused(cloud, monkeypatch):
    monkeypatch.setenv("GOOGLE_PROJECT", "my project")
    refused = pytest.raises(grpc.RpcError, match="GOOGLE_PROJECT must be the ID or number of a project")
    with refused, driver.engine(emulatorHost=cloud.host):
        pass


def test_empty_properties_are_refused_with_every_missing_property(engine):
    refused = engine.failures(TEMPLATE, {"properties": {}})

    assert set(refused) == {"properties.machineType", "properties.disks", "properties.networkInterfaces"}
