"""The runs that the tests of permissions make: every verb, and what calls further methods or needs more permissions.

`when` of a run says under which conditions the verb makes the calls that it does not always make. `docs/permissions.md`
gets its conditions from there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from records.verb_runs import CALL, ONLINE, Inputs, VerbRun
from rolling.fleets import instance_path, set_limits, stop
from servers.emulated import Emulated
from values.programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    VM,
    ZONE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)
from values.scenarios import FAULT_SCENARIOS as SCENARIOS

_ACCOUNT: Final = {"serviceAccounts": [{"email": f"web@{PROJECT}.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}]}  # fmt: skip
_POLICY: Final = f"projects/{PROJECT}/regions/us-east1/resourcePolicies/rack"
_GUEST: Final = {"ready": {"guestAttribute": "app/state=ready", "within": 1}}
_ATTRIBUTES: Final = {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]}}
_GPU: Final = {"machineType": "n1-standard-1", "scheduling": {"onHostMaintenance": "TERMINATE"}}
_ACCELERATORS: Final = [{"acceleratorType": "nvidia-tesla-p100", "acceleratorCount": 1}]
_PUSH_TOKEN: Final = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.eA"
_PUBLIC_IMAGE: Final = "projects/debian-cloud/global/images/debian-12-bookworm-v20261014"
_SPOT: Final = {"scheduling": {"provisioningModel": "SPOT"}}
_SUBNETWORK: Final = {"networkInterfaces": [{"subnetwork": f"projects/{PROJECT}/regions/us-east1/subnetworks/default"}]}
_GLOBAL, _REGIONAL = "for a global template", "for a regional template"
_CREATING: Final = "if an interrupted run is still creating the resource"
_REFUSED: Final = "if Google refuses the numeric ID, for example because the resource no longer exists"
_UNKNOWN: Final = "if an instance that is not in the state matches the fleet's ID"
_ADDED, _DELETED = "if members are added or replaced", "if members are deleted or replaced"
_IN_PLACE, _RESTARTED = "if members change in place", "if a rolling update restarts members"
_ONE, _SEVERAL = "to wait for a single member", "to wait for several members with fewer calls"
_STOPPED: Final = "if `onStopped` is `START` and a member is"
_UNLISTED: Final = "compute.zoneOperations.list"
_WITHOUT_LIST: Final = f"without `{_UNLISTED}`"
_OF_PROGRAMS: Final = {"template": _GLOBAL, "template_named": _GLOBAL, "template_regional": _REGIONAL}
_OF_VERBS: Final = {
    "import": ("for an import",),
    "delete": (_SEVERAL,),
    "scale_up": (_ADDED,),
    "scale_down": (_DELETED, _ONE),
    "relabel": (_IN_PLACE, _SEVERAL),
    "restart": (_IN_PLACE, _RESTARTED, _ONE, "if a rolling update changes `machineType`"),
    "replace": (_ADDED, _DELETED, _ONE),
}
"""The conditions that programs and verbs of the fault matrix fulfil."""


def _rolling(**more: Any) -> Inputs:
    policy = {"maxUnavailable": 1, **more.pop("policy", {})}
    return fleet(2, updatePolicy=policy, **more)


def _disk(image_name: str) -> Inputs:
    return {"disks": [{"boot": True, "initializeParams": {"sourceImage": image_name}}]}


def _has_template(cloud: Emulated) -> None:
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": "base", **template()})


def _has_policy(cloud: Emulated) -> None:
    cloud.make_placement_policy()


def _has_guest_attributes(cloud: Emulated) -> None:
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})


def _has_one_place(cloud: Emulated) -> None:
    set_limits(cloud, zones={f"us-east1-{letter}": 1 for letter in "bcd"})


def _has_small_quota(cloud: Emulated) -> None:
    set_limits(cloud, instances={"us-east1": 3})


def _stops(cloud: Emulated) -> None:
    stop(cloud, "web-902")


def _with_disk(source: str) -> Inputs:
    """Attach an existing disk besides a boot disk."""
    boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": _PUBLIC_IMAGE}}
    return {"disks": [boot, {"source": source, "mode": "READ_ONLY"}]}


def _suspends(cloud: Emulated) -> None:
    stop(cloud, "web-902", "suspend", status="SUSPENDED")


def _answers_at_once(cloud: Emulated) -> None:
    cloud.emulator.operations.done_at_once = True


def _has_stranger(cloud: Emulated) -> None:
    """Create an instance that may be a member, as far as one can tell without operations."""
    member = cloud.get(instance_path("web-901")) or {}
    copied = {name: member[name] for name in ("labels", "creationTimestamp")}
    cloud.change(cloud.make_instance("a-copy"), lambda body: body.update(copied))


def _failing(method: str, **fault: Any) -> Callable[[Emulated], None]:
    """Inject a fault into the next call of a method."""
    return lambda cloud: cloud.fail(method, **fault)


def _without_long_polls(token: str, collection: str, inputs: Inputs, *when: str) -> VerbRun:
    """Create a resource at a server that does not have the `wait` method of operations."""
    missing = _failing(f"compute.{collection}.wait", status=404, times=9)
    return VerbRun(token, "create", inputs, arrange=missing, name=f"{collection}_without_long_polls", when=when)


def _interrupted(token: str, inputs: Inputs, *when: str) -> list[VerbRun]:
    """Read and delete a resource that Google is still creating for a cancelled run."""
    name = "regional_interrupted" if _REGIONAL in when else "interrupted"
    verbs = ("read", "delete")
    return [VerbRun(token, verb, inputs, interrupted=True, name=name, when=(*when, _CREATING)) for verb in verbs]


def _conflicting(token: str, method: str, inputs: Inputs) -> VerbRun:
    """Create a resource that exists already."""
    refused = _failing(method, status=409, reason="alreadyExists", message="already exists")
    return VerbRun(token, "create", inputs, arrange=refused, fails=True, name=f"{method}_conflict")


def _matrix() -> list[VerbRun]:
    """Take over the verbs of the fault matrix."""
    verbs = {"create": "create", "read": "read", "delete": "delete", "import": "read"}
    return [
        VerbRun(item.token, verbs.get(item.verb, "update"), item.inputs, item.changed,
                imports=item.verb == "import", name=f"{item.program}-{item.verb}",
                when=(*filter(None, [_OF_PROGRAMS.get(item.program)]), *_OF_VERBS.get(item.verb, ())))
        for item in SCENARIOS
    ]  # fmt: skip


def _refusing_the_number(token: str, method: str, inputs: Inputs, *when: str) -> VerbRun:
    """Delete a resource whose numeric ID Google refuses once, so that its name is used."""
    refuse = partial(Emulated.fail, method=method, status=403, message="a condition allows names only")
    name = f"by_name_{method.split('.')[1]}"
    return VerbRun(token, "delete", inputs, arrange=refuse, name=name, when=(*when, _REFUSED))


def _of_members(changes: dict[str, tuple[Inputs, str]], *when: str) -> list[VerbRun]:
    """Change members of a rolling fleet in each of these ways."""
    return [
        VerbRun(FLEET, "update", _rolling(), _rolling(**changed), name=name, when=(_IN_PLACE, *when, condition))
        for name, (changed, condition) in changes.items()
    ]


_FULL: Final = {
    **_ACCOUNT,
    "tags": {"items": ["web"]},
    "metadata": {"items": [{"key": "k", "value": "v"}]},
    "labels": {"a": "1"},
}
_RICH: Final = {
    **_FULL,
    "disks": [
        {
            "boot": True,
            "autoDelete": True,
            "initializeParams": {"sourceImage": f"projects/{PROJECT}/global/images/own"},
        },
        {"deviceName": "models", "source": "models", "mode": "READ_ONLY"},
    ],
    "networkInterfaces": [{**_SUBNETWORK["networkInterfaces"][0], "accessConfigs": [{"natIP": "203.0.113.10"}]}],
}
"""What others have to make first."""
_OLD_TEMPLATE: Final = {"sourceInstanceTemplate": "global/instanceTemplates/base"}
_FROM_TEMPLATE: Final = {"region": "us-east1", "namePattern": "t-#", **_OLD_TEMPLATE}
_WITH_TEMPLATE: Final = "if `sourceInstanceTemplate` is set"
RUNS: Final = [
    VerbRun(FLEET, "create", fleet(1, **_RICH), fails=True, name="rich"),
    *(VerbRun(FLEET, verb, fleet(2), fleet(2), arrange=_has_stranger, name="stranger", when=(_UNKNOWN,)) for verb in ("read", "update", "delete")),
    *_matrix(),
    VerbRun(FLEET, "delete", fleet(1), name="one_member", when=(_ONE,)),
    VerbRun(FLEET, "delete", fleet(2), lacks=_UNLISTED, name="unlisted", when=(_WITHOUT_LIST,)),
    VerbRun(FLEET, "update", fleet(2), fleet(2, labels={"a": "2"}), lacks=_UNLISTED, name="unlisted", when=(_IN_PLACE, _WITHOUT_LIST)),
    *_of_members({
        "metadata": ({"metadata": {"items": [{"key": "k", "value": "v"}]}}, "if `metadata` changes"),
        "tags": ({"tags": {"items": ["web"]}}, "if `tags` change"),
        "scheduling": ({"scheduling": {"automaticRestart": False}}, "if `scheduling` changes"),
    }, _SEVERAL),
    *_of_members({
        "account": (_ACCOUNT, "if a rolling update changes `serviceAccounts`"),
        "platform": ({"minCpuPlatform": "Intel Cascade Lake"}, "if a rolling update changes `minCpuPlatform`"),
    }, _RESTARTED, _ONE),
    VerbRun(FLEET, "update", _rolling(**_GPU), _rolling(**_GPU, guestAccelerators=_ACCELERATORS), name="accelerators", when=(_IN_PLACE, _RESTARTED, _ONE, "if a rolling update changes `guestAccelerators`")),
    VerbRun(FLEET, "create", fleet(2, **_FULL), name="full"),
    VerbRun(FLEET, "create", fleet(2, **_SUBNETWORK), name="subnetwork"),
    VerbRun(FLEET, "create", fleet(2, placement={"policies": [_POLICY]}), world=_has_policy, name="placement"),
    VerbRun(FLEET, "create", {**_FROM_TEMPLATE, "count": 2}, world=_has_template, name="from_template", when=(_WITH_TEMPLATE,)),
    VerbRun(FLEET, "update", {**_FROM_TEMPLATE, "count": 2}, {**_FROM_TEMPLATE, "count": 3}, world=_has_template, name="from_template", when=(_ADDED, _WITH_TEMPLATE)),
    VerbRun(FLEET, "create", fleet(6, minCount=1), world=_has_one_place, name="shortfall"),
    VerbRun(FLEET, "create", _rolling(policy=_GUEST, **_ATTRIBUTES), world=_has_guest_attributes, name="guest_attribute", when=("if `ready.guestAttribute` is set",)),
    VerbRun(FLEET, "update", _rolling(policy=_GUEST, **_ATTRIBUTES), _rolling(policy=_GUEST, machineType="e2-medium", **_ATTRIBUTES), world=_has_guest_attributes, name="guest_attribute", when=(*_OF_VERBS["restart"], "if `ready.guestAttribute` is set")),
    VerbRun(FLEET, "update", _rolling(), _rolling(), arrange=_stops, name="start", when=(_ONE, f"{_STOPPED} stopped")),
    VerbRun(FLEET, "update", _rolling(), _rolling(), arrange=_suspends, name="resume", when=(_ONE, f"{_STOPPED} suspended")),
    VerbRun(FLEET, "update", _rolling(), _rolling(**_FULL, **_disk("family/debian-12")), name="replace_full", when=(_IN_PLACE, _RESTARTED, _ONE, "if `metadata` changes", "if `tags` change", "if a rolling update changes `serviceAccounts`")),
    VerbRun(FLEET, "read", fleet(2), arrange=_stops, name="stopped", when=("for the `stopReason` of stopped members",)),
    VerbRun(FLEET, "create", fleet(6, minCount=1), world=_has_small_quota, name="quota"),
    VerbRun(FLEET, "create", fleet(2, region="us-est1"), fails=True, name="misspelt"),
    _without_long_polls(TEMPLATE, "globalOperations", template(), _GLOBAL),
    _without_long_polls(TEMPLATE, "regionOperations", {"region": "us-east1", **template()}, _REGIONAL),
    _without_long_polls(IMAGE, "globalOperations", image()),
    _without_long_polls(ATTACHMENT, "zoneOperations", attachment()),
    _without_long_polls(FLEET, "regionOperations", fleet(2)),
    *_interrupted(TEMPLATE, template(), _GLOBAL),
    *_interrupted(TEMPLATE, {"region": "us-east1", **template()}, _REGIONAL),
    *_interrupted(IMAGE, image()),
    *_interrupted(ATTACHMENT, attachment()),
    *_interrupted(FLEET, fleet(2), _UNKNOWN),
    _conflicting(TEMPLATE, "compute.instanceTemplates.insert", {"name": "web", **template()}),
    _conflicting(TEMPLATE, "compute.regionInstanceTemplates.insert", {"name": "web", "region": "us-east1", **template()}),
    _conflicting(IMAGE, "compute.machineImages.insert", image(name="golden")),
    _refusing_the_number(TEMPLATE, "compute.instanceTemplates.delete", template(), _GLOBAL),
    _refusing_the_number(TEMPLATE, "compute.regionInstanceTemplates.delete", {"region": "us-east1", **template()}, _REGIONAL),
    _refusing_the_number(IMAGE, "compute.machineImages.delete", image()),
    _conflicting(ATTACHMENT, "compute.instances.attachDisk", attachment()),
    _conflicting(FLEET, "compute.regionInstances.bulkInsert", fleet(2)),
    VerbRun(TEMPLATE, "create", {"region": "us-est1", **template()}, fails=True, name="misspelt"),
    VerbRun(ATTACHMENT, "create", attachment(instance="zones/us-est1-b/instances/x"), fails=True, name="misspelt"),
    VerbRun(IMAGE, "create", image(sourceInstance="zones/us-est1-b/instances/x"), fails=True, name="misspelt"),
    VerbRun(NOTIFICATION, "create", notification(), arrange=_failing("storage.notifications.insert", status=403), fails=True, name="denied"),
    VerbRun(TEMPLATE, "create", template(**_FULL), name="full", when=(_GLOBAL,)),
    VerbRun(TEMPLATE, "create", {"region": "us-east1", **template(**_FULL)}, name="regional_full", when=(_REGIONAL,)),
    VerbRun(TEMPLATE, "create", template(**_SUBNETWORK), name="subnetwork", when=(_GLOBAL,)),
    VerbRun(TEMPLATE, "create", {"region": "us-east1", **template(**_SUBNETWORK)}, name="regional_subnetwork", when=(_REGIONAL,)),
    VerbRun(TEMPLATE, "create", {"sourceInstance": VM}, name="from_instance", when=(_GLOBAL,)),
    VerbRun(ATTACHMENT, "create", attachment(mode="READ_ONLY"), name="read_only"),
    VerbRun(ATTACHMENT, "create", attachment(), arrange=_answers_at_once, ends_early=True, name="answered_at_once"),
    VerbRun(KEY, "create", key(projectId=PROJECT), name="imported"),
    VerbRun(KEY, "update", key(projectId=PROJECT), key(projectId=PROJECT, regions=["us-east1"]), name="regions"),
    *(VerbRun(token, "list", query, name=name) for name, token, query in (
        ("all", TEMPLATE, {}), ("region", TEMPLATE, {"region": "us-east1"}), ("all", IMAGE, {}),
        ("all", FLEET, {}), ("region", FLEET, {"region": "us-east1"}), ("all", ATTACHMENT, {}),
        ("zone", ATTACHMENT, {"zone": "us-east1-b"}), ("all", KEY, {"user": USER}),
        ("bucket", NOTIFICATION, {"bucket": BUCKET}))),
    VerbRun(TEMPLATE, ONLINE, {"region": "us-east1", **template(**_SUBNETWORK)}, name="regional"),
    VerbRun(TEMPLATE, ONLINE, template(), name="global"),
    VerbRun(TEMPLATE, ONLINE, template(**_disk(_PUBLIC_IMAGE)), name="image"),
    VerbRun(TEMPLATE, ONLINE, {"region": "us-est1", **template()}, name="misspelt"),
    VerbRun(TEMPLATE, ONLINE, {"sourceInstance": VM}, name="from_instance"),
    VerbRun(TEMPLATE, ONLINE, {"sourceInstance": "zones/us-est1-b/instances/x"}, name="misspelt_zone"),
    *(VerbRun(token, ONLINE, inputs, name=name) for token, inputs, name in (
        (TEMPLATE, template(**_with_disk("example-data")), "disk_name"),
        (TEMPLATE, template(**_with_disk("zones/us-east1-b/disks/example-data")), "zonal_disk"),
        (TEMPLATE, template(**_with_disk("regions/us-east1/disks/none")), "regional_disk"),
        (TEMPLATE, template(disks=[{"boot": True, "initializeParams": {"sourceSnapshot": "none"}}]), "snapshot"),
        (FLEET, fleet(1, **_with_disk("example-data")), "disk_name"),
        (FLEET, fleet(1, **_with_disk("zones/us-east1-b/disks/example-data")), "zonal_disk"),
        (FLEET, fleet(1, **_with_disk("regions/us-east1/disks/none")), "regional_disk"),
        (FLEET, fleet(1, disks=[{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "none"}}, {"autoDelete": True, "initializeParams": {"sourceSnapshot": "none"}}]), "snapshot"),
        (ATTACHMENT, attachment(disk="regions/us-east1/disks/none"), "regional_disk"),
        (NOTIFICATION, notification(userProject="payer"), "user_project"),
    )),
    VerbRun(FLEET, ONLINE, fleet(5, **_SPOT, placement={"policies": [_POLICY]}, locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]}), world=_has_policy, name="all"),
    VerbRun(FLEET, ONLINE, fleet(5, region="us-est1"), name="misspelt_region"),
    VerbRun(FLEET, ONLINE, {**_FROM_TEMPLATE, "count": 2}, world=_has_template, name="from_template"),
    VerbRun(FLEET, ONLINE, fleet(5, **_disk(_PUBLIC_IMAGE)), name="image"),
    VerbRun(FLEET, ONLINE, fleet(5, locationPolicy={"zones": [{"zone": "zones/us-east1-x"}]}, **_SUBNETWORK), name="misspelt"),
    VerbRun(IMAGE, ONLINE, image(), name="all"),
    VerbRun(IMAGE, ONLINE, image(sourceInstance="zones/us-est1-b/instances/x"), name="misspelt"),
    VerbRun(ATTACHMENT, ONLINE, attachment(instance="example-vm", zone="us-east1-b"), name="all"),
    VerbRun(ATTACHMENT, ONLINE, attachment(instance="x", zone="us-est1-b"), name="misspelt"),
    VerbRun(KEY, ONLINE, key(projectId=PROJECT, regions=["us-east1", "us-est1"]), name="all"),
    VerbRun(NOTIFICATION, ONLINE, notification(), name="all"),
    VerbRun(NOTIFICATION, "create", notification(userProject="payer"), name="user_project"),
    VerbRun(NOTIFICATION, "create", notification(userProject="payer"), arrange=_failing("storage.notifications.insert", status=403), fails=True, name="denied_user_project"),
    VerbRun(NOTIFICATION, "read", notification(userProject="payer"), name="user_project"),
    VerbRun(NOTIFICATION, "delete", notification(userProject="payer"), name="user_project"),
    VerbRun(NOTIFICATION, "list", {}, name="all", when=("for all buckets",)),
    VerbRun(NOTIFICATION, "list", {"bucket": BUCKET, "userProject": "payer"}, name="user_project"),
    *(VerbRun("gcpx:compute:getOperation", CALL, {"name": "operation-none", **place}, fails=True, name=name, when=(when,)) for name, when, place in (
        ("global", "for a global operation", {}), ("region", "for an operation in a region", {"region": "us-east1"}), ("zone", "for an operation in a zone", {"zone": ZONE}))),
    VerbRun("gcpx:oauth2:getTokenInfo", CALL, {"idToken": "x.y.z"}, fails=True),
    VerbRun("gcpx:pubsub:verifyPushToken", CALL, {"token": _PUSH_TOKEN, "audience": "me", "serviceAccountEmail": USER}),
    *(VerbRun(f"gcpx:compute:{name}", CALL, arguments) for name, arguments in (
        ("aggregatedListInstanceTemplates", {}), ("aggregatedListInstances", {}), ("listInstanceTemplates", {}),
        ("listRegions", {}))),
]  # fmt: skip
"""All runs."""
