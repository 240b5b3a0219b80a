"""The permissions that Google checks when instances, templates and machine images are created, and disks attached.

Sources: "Required permissions" of the guide "Create and start a Compute Engine instance", and "Authorization requires"
at each field in the REST reference.
"""

from __future__ import annotations

from typing import Final

from gcpx.gcp.api_method import Need

PROJECT: Final = "the project"
INSTANCE: Final = "the instance"
_ACCOUNT_IS_SET: Final = "if `serviceAccounts` is set"
_NETWORK: Final = "if an interface names a network"
_SUBNETWORK: Final = "if an interface names a subnetwork, or a VPC network, from which Google chooses one"
_EXTERNAL: Final = "if an interface has an external address (`accessConfigs`)"
ACT_AS: Final = Need("iam.serviceAccounts.actAs", "the service account", _ACCOUNT_IS_SET)
SET_SERVICE_ACCOUNT: Final = "compute.instances.setServiceAccount"

CREATION: Final = (
    Need("compute.instances.create", PROJECT),
    Need("compute.disks.create", PROJECT, "if disks are created, as in nearly every fleet"),
    Need("compute.instances.setLabels", PROJECT, "always, because gcpx labels the members of a fleet"),
    Need("compute.networks.use", "the network", _NETWORK),
    Need("compute.networks.useExternalIp", "the network", f"{_EXTERNAL} in a legacy network"),
    Need("compute.subnetworks.use", "the subnetwork", _SUBNETWORK),
    Need("compute.subnetworks.useExternalIp", "the subnetwork", f"{_EXTERNAL} in a VPC network"),
    Need("compute.addresses.use", PROJECT, "if an interface has a reserved address (`natIP`)"),
    Need("compute.instances.pscInterfaceCreate", PROJECT, "if an interface names a network attachment"),
    Need("compute.instances.setMetadata", PROJECT, "if `metadata` is set"),
    Need("compute.instances.setTags", PROJECT, "if `tags` are set"),
    Need(SET_SERVICE_ACCOUNT, PROJECT, _ACCOUNT_IS_SET),
    ACT_AS,
    Need("compute.resourcePolicies.use", PROJECT, "if `resourcePolicies` or `placement` is set"),
    Need("compute.instanceTemplates.useReadOnly", "the template", "if `sourceInstanceTemplate` is set"),
    Need("compute.images.useReadOnly", "the image", "if a disk is made from an image that is not public"),
    Need("compute.disks.useReadOnly", "the disk", "if an existing disk is attached, which is then read-only"),
)
"""What the creation of instances needs."""
TEMPLATE: Final = (
    Need("compute.instanceTemplates.create", PROJECT),
    Need("compute.networks.get", "the network", _NETWORK),
    Need("compute.subnetworks.get", "the subnetwork", "if an interface names a subnetwork"),
    ACT_AS,
)
"""What the creation of an instance template needs."""
MACHINE_IMAGE: Final = (
    Need("compute.machineImages.create", PROJECT),
    Need("compute.instances.useReadOnly", "the source instance"),
    Need("compute.disks.createSnapshot", "the disks of the source instance"),
)
"""What the creation of a machine image needs."""
ATTACHMENT: Final = (
    Need("compute.instances.attachDisk", INSTANCE),
    Need("compute.disks.use", "the disk", "if `mode` is `READ_WRITE`, which is the default"),
    Need("compute.disks.useReadOnly", "the disk", "if `mode` is `READ_ONLY`"),
)
"""What attaching an existing disk needs."""
AUTO_DELETE: Final = (Need("compute.instances.setDiskAutoDelete", INSTANCE), Need("compute.disks.update", "the disk"))
"""What changing the automatic deletion of an attached disk needs."""
