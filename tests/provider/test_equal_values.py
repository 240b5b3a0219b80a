"""Values that mean the same are neither a change nor drift, in whatever way they are written; others are a change."""

from __future__ import annotations

import itertools
import re

import attrs
import pytest
from engines import driver
from engines.driver import rpc, struct
from samples import INPUTS
from values.programs import ATTACHMENT, IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE, ZONE, template
from values.spellings import ABSENT, REGION, places

from gcpx.model.fields import object_type
from gcpx.provider import RESOURCES, resource_class

HERE = {"project": PROJECT, "region": REGION, "zone": ZONE}


@pytest.fixture(scope="module")
def offline():
    with driver.direct(**HERE) as made:
        yield made


def _pairs(group):
    """Return the first value with each other one, in both orders."""
    first, *others = group
    return [pair for other in others for pair in ((first, other), (other, first))]


def _changes(engine, token, old, new, outputs=None):
    olds, old_inputs, news = map(struct, (outputs or {}, old, new))
    request = rpc.DiffRequest(urn=engine.urn(token, "x"), olds=olds, old_inputs=old_inputs, news=news)
    return set(engine.stub.Diff(request).detailedDiff)


@pytest.mark.parametrize("token", RESOURCES)
def test_another_spelling_of_a_value_is_no_change(offline, token):
    for place in places(token):
        for group in place.groups:
            for one, other in _pairs([*map(place.wrap, group)]):
                assert _changes(offline, token, one, other) == set(), (place.name, one, other)


@pytest.mark.parametrize("token", RESOURCES)
def test_another_value_is_a_change(offline, token):
    for place in places(token):
        for one, other in itertools.permutations((place.wrap(group[0]) for group in place.groups), 2):
            assert _changes(offline, token, one, other), (place.name, one, other)


DEFAULT = re.compile(r"Default: (?:`([^`]+)`[.;]|(true|false)[.;,])")


def _named_defaults(token):
    return [(place, found) for place in places(token) if (found := DEFAULT.search(place.prop.traits.description))]


def test_descriptions_name_defaults_as_the_next_test_reads_them():
    assert all(map(_named_defaults, (TEMPLATE, NOTIFICATION, ATTACHMENT)))


@pytest.mark.parametrize("token", RESOURCES)
def test_a_default_that_a_description_names_is_no_change(offline, token):
    changed = {
        place.prop.name
        for place, (text, boolean) in ((place, found.groups()) for place, found in _named_defaults(token))
        if _changes(offline, token, place.wrap(ABSENT), place.wrap({"true": True, "false": False}.get(boolean, text)))
    }

    assert changed <= {"confidentialInstanceType"}, "it is implied by enableConfidentialCompute"


def _properties(**given):
    return {"properties": given}


GPU = {"guestAccelerators": [{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}]}
SPOT = {"provisioningModel": "SPOT"}


@pytest.mark.parametrize(("without", "written"), [
    ({"scheduling": SPOT}, {"scheduling": {**SPOT, "preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}}),
    ({"scheduling": {"preemptible": True}}, {"scheduling": {"preemptible": True, "automaticRestart": False}}),
    (GPU, {**GPU, "scheduling": {"onHostMaintenance": "TERMINATE"}}),
    ({**GPU, "scheduling": {"minNodeCpus": 2}}, {**GPU, "scheduling": {"minNodeCpus": 2, "onHostMaintenance": "TERMINATE"}}),
    ({"confidentialInstanceConfig": {"enableConfidentialCompute": True}}, {"confidentialInstanceConfig": {"enableConfidentialCompute": True, "confidentialInstanceType": "SEV"}}),
    ({"networkInterfaces": [{}]}, {"networkInterfaces": [{"network": "default"}]}),
    ({"networkInterfaces": [{}]}, {"networkInterfaces": [{"network": f"projects/{PROJECT}/global/networks/default"}]}),
], ids=["spot", "preemptible", "gpu", "gpu beside another setting", "confidential", "network", "network in full"])  # fmt: skip
def test_what_other_values_imply_is_no_change(offline, without, written):
    assert _changes(offline, TEMPLATE, _properties(**without), _properties(**written)) == set()
    assert _changes(offline, TEMPLATE, _properties(**written), _properties(**without)) == set()


def test_what_other_values_no_longer_imply_is_a_change(offline):
    terminates, spot = {"scheduling": {"onHostMaintenance": "TERMINATE"}}, {"scheduling": SPOT}
    cpus, model = {"minNodeCpus": 2}, "properties.scheduling.provisioningModel"
    kept = _properties(scheduling={**cpus, **SPOT, "automaticRestart": False})

    assert _changes(offline, TEMPLATE, _properties(**GPU), {"properties": {}}) == {"properties"}
    assert _changes(offline, TEMPLATE, _properties(**GPU), _properties(**terminates)) == {
        "properties.guestAccelerators"
    }
    assert _changes(offline, TEMPLATE, _properties(**spot), _properties(**terminates)) == {model}
    assert _changes(offline, TEMPLATE, kept, _properties(scheduling=cpus)) == {
        model,
        "properties.scheduling.automaticRestart",
    }


@attrs.frozen
class Shown:
    """A resource of which Google shows any values."""

    engine: driver.Engine
    cloud: object
    made: driver.Resource
    path: str
    """Where the emulator stores it."""
    body: dict

    @classmethod
    def of(cls, engine, cloud, vm, token):
        made = engine.create(token, "x", INPUTS[token])
        path = {NOTIFICATION: f"b/{made.id}", ATTACHMENT: vm}.get(token, made.id)
        return cls(engine, cloud, made, path, cloud.get(path))

    @property
    def token(self):
        return self.made.urn.split("::")[2]

    def places(self):
        """Return the places whose values Google returns, without those that the requests of this resource depend on."""
        fixed = {*INPUTS[self.token], "name", "deviceName"} - {"properties"}
        return [place for place in places(self.token) if place.is_shown and _top(place) not in fixed]

    def drift(self, place, written, live):
        """Return the paths that drift if the program and the last outputs have one value, and Google shows another."""
        top = _top(place)
        prop = object_type(resource_class(self.token).model).inputs[top]
        given, shown = place.wrap(written), {prop.wire: place.wrap(live).get(top)}
        if self.token == ATTACHMENT:
            boot, ours = self.body["disks"]
            shown = {"disks": [boot, {**ours, **shown}]}
        self.cloud.emulator.store.put(self.path, {**self.body, **shown})
        inputs, outputs = ({name: value for name, value in found.items() if name != top} | given
                           for found in (self.made.inputs, self.made.outputs))  # fmt: skip
        return self.engine.drift(attrs.evolve(self.made, inputs=inputs, outputs=outputs))


def _top(place):
    return re.split(r"[.\[{]", place.name)[0]


@pytest.fixture
def shown(cloud, vm, request):
    with driver.direct(**HERE, emulatorHost=cloud.host) as engine:
        yield Shown.of(engine, cloud, vm, request.param)


SHOWN = [TEMPLATE, IMAGE, KEY, NOTIFICATION, ATTACHMENT]


@pytest.mark.parametrize("shown", SHOWN, indirect=True)
def test_another_spelling_at_google_is_no_drift(shown):
    found = shown.places()
    for place in found:
        for group in place.groups:
            for written, live in _pairs(group):
                if live is not None:
                    assert shown.drift(place, written, live) == set(), (place.name, written, live)

    assert found


IN_PLACE = {IMAGE: {"labels"}, KEY: {"expirationTimeUsec"}, ATTACHMENT: {"autoDelete"}}


@pytest.mark.parametrize("shown", [TEMPLATE, IMAGE, KEY, ATTACHMENT], indirect=True)
def test_what_the_last_outputs_lack_drifts_only_if_it_can_change(shown):
    drifted = {
        _top(place) for place in shown.places() for group in place.groups[1:] if shown.drift(place, ABSENT, group[0])
    }

    assert drifted == IN_PLACE.get(shown.token, set())


@pytest.mark.parametrize("shown", [TEMPLATE], indirect=True)
def test_a_new_property_within_what_the_last_outputs_have_is_no_drift(shown):
    (scheduling,) = (place for place in places(TEMPLATE) if place.name == "properties.scheduling")
    before = {"minNodeCpus": 2, "nodeAffinities": [{"key": "a"}]}
    last = attrs.evolve(shown.made, outputs={**shown.made.outputs, **scheduling.wrap(before)})
    live = scheduling.wrap(
        {"minNodeCpus": 2, "nodeAffinities": [{"key": "a", "operator": "IN"}], "skipGuestOsShutdown": True}
    )
    shown.cloud.emulator.store.put(
        shown.path, {**shown.body, "properties": {**shown.body["properties"], **live["properties"]}}
    )

    assert shown.engine.drift(last) == set()


@pytest.mark.parametrize("written", [
    {"networkInterfaces": [{}]},
    {"networkInterfaces": [{"network": "default", "stackType": "IPV4_ONLY"}]},
    {"confidentialInstanceConfig": {"enableConfidentialCompute": False}},
    {"scheduling": {"exposeHostTopology": False}},
    {"scheduling": {"gracefulShutdown": {"enabled": False}}},
], ids=str)  # fmt: skip
def test_what_is_so_without_being_written_is_no_change(offline, written):
    without = template()

    assert _changes(offline, TEMPLATE, without, template(**written)) == set()
    assert _changes(offline, TEMPLATE, template(**written), without) == set()


def test_turning_a_default_off_is_a_change(offline):
    written = template(shieldedInstanceConfig={"enableVtpm": False})

    assert _changes(offline, TEMPLATE, template(), written)
    assert _changes(offline, TEMPLATE, written, template())


def test_what_google_shows_beside_the_program_is_no_drift(engine, cloud):
    disks = [
        {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}},
        {"type": "SCRATCH", "interface": "NVME", "initializeParams": {"diskType": "local-ssd"}},
    ]
    made = engine.create(TEMPLATE, "x", template(machineType="n2-standard-4", disks=disks))
    live = cloud.get(made.id)
    shown = live["properties"]
    for disk in shown["disks"]:
        disk.pop("diskSizeGb", None)
    shown["disks"].reverse()
    shown["networkInterfaces"][0] |= {"stackType": "IPV4_ONLY", "nicType": "GVNIC"}
    shown["disks"][0]["localSsdEncryptionMode"] = "STANDARD_ENCRYPTION"
    cloud.emulator.store.put(made.id, live)

    assert engine.drift(made) == set()
