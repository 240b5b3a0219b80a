"""Which API methods each verb of each resource calls, and each function: the tests hold it to what they observe."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen
class Calls:
    """What a verb calls.

    Attributes:
        always: the methods that it cannot do without, each with the condition under which it calls it; empty if it
            calls it in every case.
        helpful: the methods whose refusal does not make it fail, each with what is missing then.
    """

    always: dict[str, str] = attrs.Factory(dict)
    helpful: dict[str, str] = attrs.Factory(dict)

    @property
    def methods(self) -> list[str]:
        """The IDs of all methods."""
        return [*self.always, *self.helpful]


_GLOBAL, _REGIONAL, _POLLED = "for a global template", "for a regional template", "if the server has no `wait` method"
_REFUSED: Final = "if Google refuses the numeric ID, for example because the resource no longer exists"
_EARLIER: Final = (
    "gcpx may not find what an interrupted run created, and does not warn about it; and if the resource was deleted "
    "within the last hour, only a second run creates it again"
)
_CREATING: Final = "if an interrupted run is still creating the resource"
_STILL_CREATING: Final = (
    "after an interrupted creation, gcpx may take what Google is still creating for gone, and says so in a warning"
)
_NO_SUGGESTION: Final = "errors about a misspelled region or zone suggest no name"
_UNCHECKED: Final = "gcpx leaves this check out, with a warning"

_ALL_REGIONS, _ONE_REGION, _ALL_ZONES, _ONE_ZONE = "for all regions", "for one region", "for all zones", "for one zone"
EXHAUSTIVE: Final = ({_GLOBAL, _REGIONAL}, {_ALL_REGIONS, _ONE_REGION}, {_ALL_ZONES, _ONE_ZONE})
"""Conditions of which one always holds."""


def _online(*methods: str) -> Calls:
    """Declare what the checks of `validateOnline` read; lists of places only serve suggestions."""
    places = {"compute.regions.list", "compute.zones.list"}
    return Calls(helpful={name: _NO_SUGGESTION if name in places else _UNCHECKED for name in methods})


_ONLINE_PLACES: Final = ("compute.projects.get", "compute.zones.get", "compute.zones.list")
_ONLINE_INSTANCES: Final = (
    "compute.projects.get",
    "compute.regions.get",
    "compute.regions.list",
    "compute.machineTypes.aggregatedList",
    "compute.images.getFromFamily",
    "compute.images.get",
    "compute.networks.get",
    "compute.subnetworks.get",
)
_TEMPLATE: Final = {
    "create": Calls(
        {
            "compute.instanceTemplates.insert": _GLOBAL,
            "compute.instanceTemplates.get": _GLOBAL,
            "compute.globalOperations.wait": _GLOBAL,
            "compute.globalOperations.get": f"{_GLOBAL}, {_POLLED}",
            "compute.regionInstanceTemplates.insert": _REGIONAL,
            "compute.regionInstanceTemplates.get": _REGIONAL,
            "compute.regionOperations.wait": _REGIONAL,
            "compute.regionOperations.get": f"{_REGIONAL}, {_POLLED}",
        },
        {
            "compute.globalOperations.list": _EARLIER,
            "compute.regionOperations.list": _EARLIER,
            "compute.regions.list": _NO_SUGGESTION,
        },
    ),
    "read": Calls(
        {
            "compute.instanceTemplates.get": _GLOBAL,
            "compute.globalOperations.wait": f"{_GLOBAL}, {_CREATING}",
            "compute.regionInstanceTemplates.get": _REGIONAL,
            "compute.regionOperations.wait": f"{_REGIONAL}, {_CREATING}",
        },
        {"compute.globalOperations.list": _STILL_CREATING, "compute.regionOperations.list": _STILL_CREATING},
    ),
    "delete": Calls(
        {
            "compute.instanceTemplates.delete": _GLOBAL,
            "compute.instanceTemplates.get": f"{_GLOBAL}, {_REFUSED}",
            "compute.globalOperations.wait": _GLOBAL,
            "compute.regionInstanceTemplates.delete": _REGIONAL,
            "compute.regionInstanceTemplates.get": f"{_REGIONAL}, {_REFUSED}",
            "compute.regionOperations.wait": _REGIONAL,
        },
        {"compute.globalOperations.list": _STILL_CREATING, "compute.regionOperations.list": _STILL_CREATING},
    ),
    "list": Calls(
        {"compute.instanceTemplates.aggregatedList": _ALL_REGIONS, "compute.regionInstanceTemplates.list": _ONE_REGION}
    ),
    "validateOnline": _online(*_ONLINE_INSTANCES),
}
_IMAGE: Final = {
    "create": Calls(
        {
            "compute.machineImages.insert": "",
            "compute.machineImages.get": "",
            "compute.globalOperations.wait": "",
            "compute.globalOperations.get": _POLLED,
        },
        {"compute.globalOperations.list": _EARLIER},
    ),
    "read": Calls(
        {"compute.machineImages.get": "", "compute.globalOperations.wait": _CREATING},
        {"compute.globalOperations.list": _STILL_CREATING},
    ),
    "update": Calls(
        {"compute.machineImages.get": "", "compute.machineImages.setLabels": "", "compute.globalOperations.wait": ""}
    ),
    "delete": Calls(
        {
            "compute.machineImages.delete": "",
            "compute.machineImages.get": _REFUSED,
            "compute.globalOperations.wait": "",
        },
        {"compute.globalOperations.list": _STILL_CREATING},
    ),
    "list": Calls({"compute.machineImages.list": ""}),
    "validateOnline": _online(*_ONLINE_PLACES),
}
_UNKNOWN: Final = "if an instance that is not in the state matches the fleet's ID"
_INTERRUPTED: Final = (
    "and after a creation that was interrupted, or whose first response says that it is done, commands fail until the "
    "permission is granted, because gcpx cannot tell who created the instances"
)
_FEWER_CALLS: Final = f"{_UNKNOWN}; without it, gcpx also needs more calls to wait for many members"
_ROLLING: Final = "if a rolling update changes"
_FLEET: Final = {
    "create": Calls(
        {
            "compute.regionInstances.bulkInsert": "",
            "compute.regionOperations.wait": "",
            "compute.regionOperations.get": _POLLED,
            "compute.instances.aggregatedList": "",
            "compute.instances.list": "",
        },
        {
            "compute.regionOperations.list": f"{_EARLIER}; {_INTERRUPTED}",
            "compute.zoneOperations.list": f"the error about missing instances is less exact; {_INTERRUPTED}",
            "compute.regions.get": "the error about a used-up quota does not show the usage",
            "compute.regions.list": _NO_SUGGESTION,
        },
    ),
    "read": Calls(
        {
            "compute.instances.aggregatedList": "",
            "compute.instances.list": "",
            "compute.disks.get": "for an import",
            "compute.regionOperations.wait": _CREATING,
            "compute.regionOperations.list": _UNKNOWN,
            "compute.zoneOperations.list": f"{_UNKNOWN}; without it, stopped members have no `stopReason` either",
        }
    ),
    "update": Calls(
        {
            "compute.instances.list": "",
            "compute.zoneOperations.get": "unless members are only added",
            "compute.instances.setLabels": "if members change in place",
            "compute.instances.delete": "if members are deleted or replaced",
            "compute.regionInstances.bulkInsert": "if members are added or replaced",
            "compute.regionOperations.wait": "if members are added or replaced",
            "compute.instances.setMetadata": "if `metadata` changes",
            "compute.instances.setTags": "if `tags` changes",
            "compute.instances.setScheduling": "if `scheduling` changes",
            "compute.instances.setMachineType": f"{_ROLLING} `machineType`",
            "compute.instances.setMinCpuPlatform": f"{_ROLLING} `minCpuPlatform`",
            "compute.instances.setServiceAccount": f"{_ROLLING} `serviceAccounts`",
            "compute.instances.setMachineResources": f"{_ROLLING} `guestAccelerators`",
            "compute.instances.stop": "if a rolling update restarts members",
            "compute.instances.start": "if a rolling update restarts members, or `onStopped` is `START`",
            "compute.instances.resume": "if `onStopped` is `START` and a member is suspended",
            "compute.instances.getGuestAttributes": "if `ready.guestAttribute` is set",
            "compute.regionOperations.list": _UNKNOWN,
            "compute.zoneOperations.list": _FEWER_CALLS,
        }
    ),
    "delete": Calls(
        {
            "compute.instances.aggregatedList": "",
            "compute.instances.list": "",
            "compute.instances.delete": "",
            "compute.regionOperations.wait": _CREATING,
            "compute.zoneOperations.get": "if there is only one operation, or without `compute.zoneOperations.list`",
            "compute.regionOperations.list": _UNKNOWN,
            "compute.zoneOperations.list": _FEWER_CALLS,
        }
    ),
    "list": Calls({"compute.instances.aggregatedList": ""}),
    "validateOnline": _online(
        *_ONLINE_INSTANCES,
        "compute.zones.get",
        "compute.zones.list",
        "compute.resourcePolicies.get",
        "compute.advice.capacity",
    ),
}
_REATTACHED: Final = (
    "gcpx may leave alone a disk that an interrupted run attached, or take over one that somebody else has attached "
    "anew since; and if the disk was detached within the last hour, only a second run attaches it again"
)
_ATTACHMENT: Final = {
    "create": Calls(
        {
            "compute.instances.attachDisk": "",
            "compute.instances.get": "",
            "compute.zoneOperations.wait": "",
            "compute.zoneOperations.get": _POLLED,
        },
        {"compute.zoneOperations.list": _REATTACHED},
    ),
    "read": Calls(
        {"compute.instances.get": "", "compute.zoneOperations.wait": _CREATING},
        {"compute.zoneOperations.list": _STILL_CREATING},
    ),
    "update": Calls(
        {"compute.instances.get": "", "compute.instances.setDiskAutoDelete": "", "compute.zoneOperations.wait": ""}
    ),
    "delete": Calls(
        {"compute.instances.get": "", "compute.instances.detachDisk": "", "compute.zoneOperations.wait": ""},
        {"compute.zoneOperations.list": _STILL_CREATING},
    ),
    "list": Calls({"compute.instances.aggregatedList": _ALL_ZONES, "compute.instances.list": _ONE_ZONE}),
    "validateOnline": _online(*_ONLINE_PLACES),
}
_KEY: Final = {
    "create": Calls(
        {
            "oslogin.users.sshPublicKeys.get": "",
            "oslogin.users.sshPublicKeys.create": "unless `projectId` is set",
            "oslogin.users.importSshPublicKey": "if `projectId` is set",
        }
    ),
    "read": Calls({"oslogin.users.sshPublicKeys.get": ""}),
    "update": Calls(
        {
            "oslogin.users.sshPublicKeys.patch": "",
            "oslogin.users.sshPublicKeys.get": "",
            "oslogin.users.importSshPublicKey": "if `projectId` or `regions` change",
        }
    ),
    "delete": Calls({"oslogin.users.sshPublicKeys.delete": ""}),
    "list": Calls({"oslogin.users.getLoginProfile": ""}),
    "validateOnline": _online("compute.projects.get", "compute.regions.get", "compute.regions.list"),
}
_NOTIFICATION: Final = {
    "create": Calls(
        {"storage.notifications.list": "", "storage.notifications.insert": ""},
        {"storage.projects.serviceAccount.get": "the error about a topic does not name the service agent"},
    ),
    "read": Calls({"storage.notifications.get": ""}),
    "delete": Calls({"storage.notifications.get": "", "storage.notifications.delete": ""}),
    "list": Calls({"storage.notifications.list": "", "storage.buckets.list": "for all buckets"}),
    "validateOnline": _online("pubsub.projects.topics.get"),
}
_FUNCTIONS: Final = {
    "gcpx:compute:aggregatedListInstanceTemplates": Calls({"compute.instanceTemplates.aggregatedList": ""}),
    "gcpx:compute:aggregatedListInstances": Calls({"compute.instances.aggregatedList": ""}),
    "gcpx:compute:getOperation": Calls(
        {
            "compute.globalOperations.get": "for a global operation",
            "compute.regionOperations.get": "for an operation in a region",
            "compute.zoneOperations.get": "for an operation in a zone",
        }
    ),
    "gcpx:compute:listInstanceTemplates": Calls({"compute.instanceTemplates.list": ""}),
    "gcpx:compute:listRegions": Calls({"compute.regions.list": ""}),
    "gcpx:oauth2:getTokenInfo": Calls({"oauth2.tokeninfo": ""}),
    "gcpx:pubsub:verifyPushToken": Calls({"oauth2.certs": "unless `certificates` are given"}),
}
CALLS: Final[dict[str, dict[str, Calls]]] = {
    "gcpx:compute:BulkInstances": _FLEET,
    "gcpx:compute:DiskAttachment": _ATTACHMENT,
    "gcpx:compute:InstanceTemplate": _TEMPLATE,
    "gcpx:compute:MachineImage": _IMAGE,
    "gcpx:oslogin:SshKey": _KEY,
    "gcpx:storage:NotificationConfig": _NOTIFICATION,
    **{token: {"call": calls} for token, calls in _FUNCTIONS.items()},
}
"""The calls of each verb, by token; `validateOnline` is a preview with that setting, and `call` that of a function."""
