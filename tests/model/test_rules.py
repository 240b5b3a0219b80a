"""Each limit and rule in docs/reference, through the plugin: it accepts the good values, and refuses or warns about the bad ones."""

from __future__ import annotations

import base64
import copy

import grpc
import pytest
from engines import driver
from generate.rule_rows import rows
from samples import INPUTS
from values.programs import BLOB, FLEET, fleet  # fmt: skip

from gcpx.model.fields import object_type
from gcpx.model.values import format_path
from gcpx.provider import resource_class

ROWS = {row.key: row for row in rows()}
BASE = {
    **INPUTS, FLEET: fleet(3),
    "gcpx:compute:getOperation": {"name": "operation-1"}, "gcpx:oauth2:getTokenInfo": {"idToken": "a.b.c"},
    "gcpx:pubsub:verifyPushToken": {"token": "a.b.c", "audience": "x", "serviceAccountEmail": "y", "certificates": {"a": "b"}},
}  # fmt: skip
RAW, WRAPPED = base64.b64encode(b"k" * 32).decode(), base64.b64encode(b"k" * 256).decode()
LONG, NAME63, NAME64 = "a" * 64, "a" * 63, "a" * 64
SSD = {"boot": None, "type": "SCRATCH", "interface": "NVME", "initializeParams": {"diskType": "local-ssd"}}
GPU = [{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}]
CARD = [{"nicType": "VIRTIO_NET"}]
FLEET_PROPERTIES = fleet(3)["instanceProperties"]
DATA = {"initializeParams": {"diskSizeGb": 10}}
RESERVED = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["r"],
}
FLEXIBLE = {"instanceSelections": {"small": {"machineTypes": ["e2-small"]}}}
RESTARTED = {"action": "RESTART", "trigger": "a"}
ONLY_B = {"zones": [{"zone": "zones/us-east1-b"}]}
ASKING = {"updatePolicy": {"ready": {"guestAttribute": "app/state=ready"}}}
NAMED = {"namePattern": None, "count": None, "perInstanceProperties": {"a": {}}}
BOOT = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}


def disk(**parameters):
    return {"initializeParams": {"sourceImage": "family/x", **parameters}}


def ssd(**parameters):
    return {**SSD, "initializeParams": {"diskType": "local-ssd", **parameters}}


def items(*sizes):
    """Return metadata with values of these sizes in bytes; each character has two bytes."""
    return {"items": [{"key": f"k{index}", "value": "é" * (size // 2)} for index, size in enumerate(sizes)]}


CASES = {
    # names and projects, of each object
    **{f"{owner}.name form": ({"name": NAME63}, {"name": NAME64}) for owner in ("InstanceTemplate", "MachineImage")},
    "AttachedDiskInitializeParams.diskName form": ({"diskName": "a-1"}, {"diskName": "a-"}),
    "AttachedDiskInitializeParams.diskType form": ({"diskType": "pd-ssd"}, {"diskType": "PD-SSD"}),
    **{f"{owner}: device_names_have_no_spaces": ({"deviceName": "my_data.1"}, {"deviceName": "my data"}, "deviceName") for owner in ("AttachedDisk", "DiskAttachment")},
    "Tags.items form": ({"items": [NAME63]}, {"items": ["a", "1a"]}, "items[1]"),
    **{key: ({"project": "my-project"}, {"project": "a/b"}) for key in ROWS if key.endswith(".project form")},
    # templates
    "InstanceTemplate.description length": ({"description": "d" * 2048}, {"description": "d" * 2049}),
    "InstanceTemplate: only one of properties, sourceInstance": ({}, {"sourceInstance": "zones/z/instances/i"}, "sourceInstance"),
    "InstanceTemplate: one of properties or sourceInstance": ({}, {"properties": None}, "needs one of"),
    "InstanceTemplate: source_instance_params_require_source_instance": ({}, {"sourceInstanceParams": {"diskConfigs": [{}]}}, "sourceInstanceParams"),
    "InstanceTemplate: properties_include_machine_type": ({}, {"properties": {"machineType": None}}, "properties.machineType"),
    "InstanceTemplate.region form": ({"region": "regions/us-east1"}, {"region": "us-east1-b"}),
    "InstanceTemplate: properties_include_boot_disk": ({"properties": {"disks": [BOOT]}}, {"properties": {"disks": [DATA]}}, "properties.disks"),
    "InstanceTemplate: properties_include_network_interface": ({"properties": {"networkInterfaces": [{}]}}, {"properties": {"networkInterfaces": []}}, "properties.networkInterfaces"),
    "DiskInstantiationConfig: customImage form": ({"instantiateFrom": "CUSTOM_IMAGE", "customImage": "mine"}, {"instantiateFrom": "CUSTOM_IMAGE", "customImage": "disks/mine"}, "customImage"),
    "DiskInstantiationConfig: customImage known family": ({"instantiateFrom": "CUSTOM_IMAGE", "customImage": "debian-12"}, {"instantiateFrom": "CUSTOM_IMAGE", "customImage": "debian-clod/debian-12"}, "customImage"),
    "InstanceTemplate: types_and_policies_are_names": ({"properties": {"machineType": "e2-small"}}, {"properties": {"machineType": "zones/z/machineTypes/e2-small"}}, "properties.machineType"),
    "InstanceTemplate: zonal_disks_are_names": ({"properties": {"disks": [BOOT, {"source": "data"}, {"source": "regions/us-east1/disks/d"}]}}, {"properties": {"disks": [BOOT, {"source": "zones/us-east1-b/disks/data"}]}}, "properties.disks[1].source"),
    "InstanceTemplate: customer_supplied_keys_are_absent": ({"properties": {"disks": [{**BOOT, "diskEncryptionKey": {"kmsKeyName": "k"}}]}}, {"properties": {"disks": [{**BOOT, "diskEncryptionKey": {"rawKey": RAW}}]}}, "properties.disks[0].diskEncryptionKey.rawKey"),
    "DiskInstantiationConfig: custom_image_and_instantiate_from_require_each_other": ({"instantiateFrom": "CUSTOM_IMAGE", "customImage": "i"}, {"instantiateFrom": "BLANK", "customImage": "i"}, "customImage"),
    # disks
    "AttachedDisk.deviceName length": ({"deviceName": NAME63}, {"deviceName": NAME64}),
    "AttachedDisk.diskSizeGb least": ({"diskSizeGb": 1}, {"diskSizeGb": 0}),
    "AttachedDisk: only one of source, initializeParams": ({}, {"source": "d"}, "initializeParams"),
    "AttachedDisk: boot_disks_have_a_source": (BOOT, {"boot": True, "initializeParams": {"diskSizeGb": 20, "sourceImage": None}}, "initializeParams.sourceImage"),
    "AttachedDisk: force_attach_requires_regional_disk": ({"source": "regions/us-east1/disks/d", "forceAttach": True}, {"source": "data", "forceAttach": True}, "forceAttach"),
    "AttachedDisk: scratch_disks_are_local_ssds": (SSD | {"initializeParams": {"diskType": "local-ssd", "sourceImage": None}}, {**SSD, "initializeParams": {"diskType": "pd-ssd", "sourceImage": None}}, "initializeParams.diskType"),
    "AttachedDisk: local_ssds_are_blank": (ssd(sourceImage=None), ssd(sourceImage="family/x"), "initializeParams.sourceImage"),
    "AttachedDisk: large_local_ssds_require_nvme": (ssd(sourceImage=None, diskSizeGb=3000), {**ssd(sourceImage=None, diskSizeGb=3000), "interface": "SCSI"}, "interface"),
    "AttachedDisk: local_ssds_have_a_known_size": (ssd(sourceImage=None, diskSizeGb=375), ssd(sourceImage=None, diskSizeGb=400), "initializeParams.diskSizeGb"),
    "AttachedDiskInitializeParams.diskSizeGb least": ({"diskSizeGb": 1, "diskType": "hyperdisk-balanced"}, {"diskSizeGb": 0}),
    "AttachedDiskInitializeParams.provisionedIops least": ({"provisionedIops": 1}, {"provisionedIops": 0}),
    "AttachedDiskInitializeParams.provisionedThroughput least": ({"provisionedThroughput": 1}, {"provisionedThroughput": 0}),
    "AttachedDiskInitializeParams.replicaZones elements": ({"replicaZones": ["zones/a-b", "zones/a-c"]}, {"replicaZones": ["zones/a-b"]}),
    "AttachedDiskInitializeParams: only one of sourceImage, sourceSnapshot, sourceInstantSnapshot": ({}, {"sourceSnapshot": "s"}, "sourceSnapshot"),
    "AttachedDiskInitializeParams: sourceImage form": ({"sourceImage": "debian-cloud/debian-12"}, {"sourceImage": "projects/debian-cloud/images/debian-12"}, "sourceImage"),
    "AttachedDiskInitializeParams: sourceImage known family": ({"sourceImage": "debian-cloud/debian-12"}, {"sourceImage": "debian-cloud/debain-12"}, "sourceImage"),
    **{f"{owner}: labels_are_valid": ({"labels": {NAME63: "v" * 63, "größe": "größe", "色": "красный"}}, {"labels": {"team": "Web"}}, "labels.team") for owner in ("AttachedDiskInitializeParams", "InstanceProperties", "MachineImage")},
    "AttachedDiskInitializeParams: persistent_disks_have_at_least_10_gb": ({"diskSizeGb": 10}, {"diskSizeGb": 9}, "diskSizeGb"),
    "AttachedDiskInitializeParams: other_disks_have_at_least_10_gb": ({"diskType": "hyperdisk-balanced", "diskSizeGb": 10}, {"diskType": "hyperdisk-balanced", "diskSizeGb": 4}, "diskSizeGb"),
    "AttachedDiskInitializeParams: pd_extreme_iops_are_in_range": ({"diskType": "pd-extreme", "provisionedIops": 120_000}, {"diskType": "pd-extreme", "provisionedIops": 120_001}, "provisionedIops"),
    "AttachedDiskInitializeParams: other_iops_are_in_range": ({"diskType": "hyperdisk-extreme", "provisionedIops": 10_000}, {"provisionedIops": 350_000}, "provisionedIops"),
    "AttachedDiskInitializeParams: replica_zones_differ_within_one_region": ({"replicaZones": ["zones/us-east1-b", "zones/us-east1-c"]}, {"replicaZones": ["zones/us-east1-b", "zones/us-west1-b"]}, "replicaZones"),
    # keys
    "CustomerEncryptionKey.rawKey deprecated": ({"kmsKeyName": "k"}, {"rawKey": RAW}, "rawKey"),
    "CustomerEncryptionKey.rsaEncryptedKey deprecated": ({"kmsKeyName": "k"}, {"rsaEncryptedKey": WRAPPED}, "rsaEncryptedKey"),
    "CustomerEncryptionKey: only one of kmsKeyName, rawKey, rsaEncryptedKey": ({"rawKey": RAW}, {"rawKey": RAW, "rsaEncryptedKey": WRAPPED}, "rsaEncryptedKey"),
    "CustomerEncryptionKey: customer_supplied_keys_have_their_size": ({"rsaEncryptedKey": WRAPPED}, {"rawKey": base64.b64encode(b"k" * 31).decode()}, "rawKey"),
    # instances
    "ServiceAccount.scopes form": ({"scopes": ["https://www.googleapis.com/auth/compute", "trace"]}, {"scopes": ["trace", "default"]}, "scopes[1]"),
    "InstanceProperties.serviceAccounts elements": ({"serviceAccounts": [{"email": "a"}]}, {"serviceAccounts": [{"email": "a"}, {"email": "b"}]}),
    "InstanceProperties.shieldedVmConfig deprecated": ({"shieldedInstanceConfig": {}}, {"shieldedVmConfig": {"enableVtpm": True}}, "shieldedVmConfig"),
    "InstanceProperties.machineType form": ({"machineType": "e2-small"}, {"machineType": "e2 small"}),
    "InstanceProperties: custom_machine_types_are_within_limits": ({"machineType": "custom-32-256"}, {"machineType": "custom-34-256"}, "machineType"),
    "InstanceProperties: custom_machine_types_of_families_have_usual_sizes": ({"machineType": "n2-custom-48-8192"}, {"machineType": "n2-custom-3-8192"}, "machineType"),
    "InstanceProperties: boot_disk_is_the_first_disk": ({"disks": [BOOT, DATA]}, {"disks": [DATA, BOOT]}, "disks[1].boot"),
    "InstanceProperties: device_names_are_unique": ({"disks": [{**BOOT, "deviceName": "a"}, {**DATA, "deviceName": "b"}]}, {"disks": [{**BOOT, "deviceName": "a"}, {**DATA, "deviceName": "a"}]}, "disks[1].deviceName"),
    "InstanceProperties: gpus_require_terminate_on_maintenance": ({"guestAccelerators": GPU, "scheduling": {"onHostMaintenance": "TERMINATE"}}, {"guestAccelerators": GPU, "scheduling": {"onHostMaintenance": "MIGRATE"}}, "scheduling.onHostMaintenance"),
    "InstanceProperties: confidential_types_require_terminate_on_maintenance": ({"confidentialInstanceConfig": {"confidentialInstanceType": "SEV"}, "scheduling": {"onHostMaintenance": "MIGRATE"}}, {"confidentialInstanceConfig": {"confidentialInstanceType": "TDX"}, "scheduling": {"onHostMaintenance": "MIGRATE"}}, "scheduling.onHostMaintenance"),
    "InstanceProperties: confidential_instances_use_gvnic": ({"confidentialInstanceConfig": {"enableConfidentialCompute": True}, "networkInterfaces": [{"nicType": "GVNIC"}]}, {"confidentialInstanceConfig": {"enableConfidentialCompute": True}, "networkInterfaces": CARD}, "networkInterfaces[0].nicType"),
    "InstanceProperties: tier_1_bandwidth_requires_gvnic": ({"networkPerformanceConfig": {"totalEgressBandwidthTier": "TIER_1"}, "networkInterfaces": [{"nicType": "GVNIC"}]}, {"networkPerformanceConfig": {"totalEgressBandwidthTier": "TIER_1"}, "networkInterfaces": CARD}, "networkInterfaces[0].nicType"),
    "InstanceProperties: network_interfaces_are_at_most_8": ({"networkInterfaces": [{}] * 8}, {"networkInterfaces": [{}] * 9}, "networkInterfaces"),
    "InstanceProperties: e2_does_not_support_nested_virtualization": ({"machineType": "n2-standard-2", "advancedMachineFeatures": {"enableNestedVirtualization": True}}, {"machineType": "e2-small", "advancedMachineFeatures": {"enableNestedVirtualization": True}}, "advancedMachineFeatures.enableNestedVirtualization"),
    "AdvancedMachineFeatures.threadsPerCore least": ({"threadsPerCore": 1}, {"threadsPerCore": 0}),
    "AdvancedMachineFeatures.visibleCoreCount least": ({"visibleCoreCount": 1}, {"visibleCoreCount": 0}),
    "AdvancedMachineFeatures: threads_per_core_are_at_most_two": ({"threadsPerCore": 2}, {"threadsPerCore": 4}, "threadsPerCore"),
    "AcceleratorConfig.acceleratorCount least": ({"acceleratorCount": 0}, {"acceleratorCount": -1}),
    "ShieldedInstanceConfig: integrity_monitoring_requires_vtpm": ({"enableVtpm": False}, {"enableVtpm": False, "enableIntegrityMonitoring": True}, "enableIntegrityMonitoring"),
    "ReservationAffinity: specific_reservations_require_key_and_values": ({"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name", "values": ["r"]}, {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name"}, "values"),
    "ReservationAffinity: reservation_key_selects_by_name": ({"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name", "values": ["r"]}, {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "team", "values": ["r"]}, "key"),
    # metadata
    "Metadata: metadata_size_is_limited": (items(262_144, 262_138), items(262_144, 262_144), "items"),
    "Metadata: metadata_keys_are_unique": ({"items": [{"key": "a"}, {"key": "A"}]}, {"items": [{"key": "a"}, {"key": "a"}]}, "items[1].key"),
    "MetadataItem.key form": ({"key": "k" * 128}, {"key": "k" * 129}),
    # networks
    "NetworkInterface.accessConfigs elements": ({"accessConfigs": [{}]}, {"accessConfigs": [{}, {}]}),
    "NetworkInterface.ipv6AccessConfigs elements": ({"ipv6AccessConfigs": [{}]}, {"ipv6AccessConfigs": [{}, {}]}),
    "NetworkInterface.internalIpv6PrefixLength least": ({"internalIpv6PrefixLength": 0}, {"internalIpv6PrefixLength": -1}),
    "NetworkInterface.internalIpv6PrefixLength most": ({"internalIpv6PrefixLength": 128}, {"internalIpv6PrefixLength": 129}),
    "NetworkInterface.networkAttachment form": ({"networkAttachment": "projects/1/regions/r/networkAttachments/a"}, {"networkAttachment": "networkAttachments/a"}),
    "NetworkInterface.queueCount least": ({"queueCount": 0}, {"queueCount": -1}),
    "NetworkInterface.vlan least": ({"vlan": 2}, {"vlan": 1}),
    "NetworkInterface.vlan most": ({"vlan": 255}, {"vlan": 256}),
    "NetworkInterface: access_configs_match_their_ip_version": ({"accessConfigs": [{"type": "ONE_TO_ONE_NAT", "natIP": "1.2.3.4"}]}, {"accessConfigs": [{"externalIpv6": "2600::1"}]}, "accessConfigs[0].externalIpv6"),
    "NetworkInterface: ipv4_only_excludes_ipv6_access": ({"stackType": "IPV4_IPV6", "ipv6AccessConfigs": [{}]}, {"stackType": "IPV4_ONLY", "ipv6AccessConfigs": [{}]}, "ipv6AccessConfigs"),
    "NetworkInterface: internal_addresses_are_valid": ({"networkIP": "10.0.0.2", "ipv6Address": "2600::1"}, {"networkIP": "10.0.0.256"}, "networkIP"),
    "AccessConfig.externalIpv6PrefixLength least": ({"externalIpv6PrefixLength": 0}, {"externalIpv6PrefixLength": -1}),
    "AccessConfig.externalIpv6PrefixLength most": ({"externalIpv6PrefixLength": 128}, {"externalIpv6PrefixLength": 129}),
    "NetworkInterface: ptr_domain_name_requires_set_public_ptr": ({"accessConfigs": [{"publicPtrDomainName": "a.example.com", "setPublicPtr": True}], "ipv6AccessConfigs": [{"publicPtrDomainName": "a.example.com"}]}, {"accessConfigs": [{"publicPtrDomainName": "a.example.com"}]}, "accessConfigs[0].publicPtrDomainName"),
    "NetworkInterface: attachment_settings_require_an_attachment": ({"networkAttachment": "projects/1/regions/us-east1/networkAttachments/a", "serviceClassId": "x", "enableVpcScopedDns": True}, {"enableVpcScopedDns": True}, "enableVpcScopedDns"),
    "AliasIpRange: only one of subnetworkRangeName, candidateSubnetworkRangeNames": ({"candidateSubnetworkRangeNames": ["a"]}, {"subnetworkRangeName": "a", "candidateSubnetworkRangeNames": ["a"]}, "candidateSubnetworkRangeNames"),
    "AliasIpRange: alias_ranges_are_valid": ({"ipCidrRange": "10.1.2.0/24"}, {"ipCidrRange": "10.1.2.0/33"}, "ipCidrRange"),
    # scheduling
    "Scheduling.availabilityDomain least": ({"availabilityDomain": 1}, {"availabilityDomain": 0}),
    "Scheduling.hostErrorTimeoutSeconds least": ({"hostErrorTimeoutSeconds": 90}, {"hostErrorTimeoutSeconds": 60}),
    "Scheduling.hostErrorTimeoutSeconds most": ({"hostErrorTimeoutSeconds": 330}, {"hostErrorTimeoutSeconds": 360}),
    "Scheduling.hostErrorTimeoutSeconds step": ({"hostErrorTimeoutSeconds": 120}, {"hostErrorTimeoutSeconds": 100}),
    "Scheduling.maintenanceFreezeDurationHours least": ({"maintenanceFreezeDurationHours": 0}, {"maintenanceFreezeDurationHours": -1}),
    "Scheduling.minNodeCpus least": ({"minNodeCpus": 0}, {"minNodeCpus": -1}),
    "Scheduling.terminationTime form": ({"terminationTime": "2027-01-31T00:00:00Z"}, {"terminationTime": "tomorrow"}),
    "Scheduling: only one of maxRunDuration, terminationTime": ({"maxRunDuration": {"seconds": 60}}, {"maxRunDuration": {"seconds": 60}, "terminationTime": "2027-01-31T00:00:00Z"}, "terminationTime"),
    "Scheduling: local_ssd_recovery_timeout_is_whole_hours": ({"localSsdRecoveryTimeout": {"seconds": 604_800}}, {"localSsdRecoveryTimeout": {"seconds": 608_400}}, "localSsdRecoveryTimeout.seconds"),
    "Scheduling: preemptible_instances_are_of_the_spot_model": ({"preemptible": True, "provisioningModel": "SPOT"}, {"preemptible": True, "provisioningModel": "STANDARD"}, "provisioningModel"),
    "Scheduling: spot_instances_do_not_migrate_or_restart": ({"provisioningModel": "SPOT", "onHostMaintenance": "TERMINATE"}, {"provisioningModel": "SPOT", "onHostMaintenance": "MIGRATE"}, "onHostMaintenance"),
    "Scheduling: termination_action_requires_spot_or_a_run_limit": ({"instanceTerminationAction": "STOP", "provisioningModel": "SPOT"}, {"instanceTerminationAction": "STOP"}, "instanceTerminationAction"),
    "Duration.seconds least": ({"seconds": 0}, {"seconds": -1}),
    "Duration.seconds most": ({"seconds": 315_576_000_000}, {"seconds": 315_576_000_001}),
    "Duration.nanos least": ({"nanos": 0}, {"nanos": -1}),
    "Duration.nanos most": ({"nanos": 999_999_999}, {"nanos": 1_000_000_000}),
    # fleets
    "BulkInstances.count least": ({"count": 0}, {"count": -1}),
    "BulkInstances.minCount least": ({"minCount": 0}, {"minCount": -1}),
    "BulkInstances.fleetId form": ({"fleetId": "blue"}, {"fleetId": "Blue"}),
    "BulkInstances.sourceInstanceTemplate form": ({"sourceInstanceTemplate": "regions/us-east1/instanceTemplates/t"}, {"sourceInstanceTemplate": "t"}),
    "InstanceTemplate.sourceInstance form": ({"sourceInstance": "zones/z/instances/i", "properties": None}, {"sourceInstance": "i", "properties": None}),
    "BulkInstances: one of instanceProperties or sourceInstanceTemplate": ({}, {"instanceProperties": None}, "needs one of"),
    "BulkInstances: names_come_from_a_pattern_or_a_list": ({}, {"perInstanceProperties": {"a": {}, "b": {}, "c": {}}}, "namePattern"),
    "BulkInstances: instance_names_are_valid": ({"namePattern": None, "count": None, "perInstanceProperties": {NAME63: {}}}, {"namePattern": None, "count": None, "perInstanceProperties": {NAME64: {}}}, f"perInstanceProperties.{NAME64}"),
    "BulkInstances: count_is_the_number_of_names": ({"namePattern": None, "perInstanceProperties": {"a": {}, "b": {}, "c": {}}}, {"namePattern": None, "perInstanceProperties": {"a": {}}}, "count"),
    "BulkInstances: min_count_is_at_most_count": ({"minCount": 3}, {"minCount": 4}, "minCount"),
    "BulkInstances: name_pattern_is_valid": ({"namePattern": "a-" + "#" * 18}, {"namePattern": "a-" + "#" * 19}, "namePattern"),
    "BulkInstances: name_pattern_has_enough_digits": ({"namePattern": "a-#", "count": 9}, {"namePattern": "a-#", "count": 10}, "namePattern"),
    "BulkInstances: customer_supplied_keys_are_not_used": ({}, {"instanceProperties": {"disks": [{**BOOT, "diskEncryptionKey": {"rawKey": RAW}}]}}, "instanceProperties.disks[0].diskEncryptionKey.rawKey"),
    "BulkInstances: template_labels_are_removed_one_by_one": ({"sourceInstanceTemplate": "global/instanceTemplates/t", "instanceProperties": {"labels": {"a": None}}}, {"sourceInstanceTemplate": "global/instanceTemplates/t", "instanceProperties": {"labels": None}}, "instanceProperties.labels"),
    "BulkInstances: overrides_are_not_empty": ({"sourceInstanceTemplate": "global/instanceTemplates/t", "instanceProperties": {"labels": {"a": None}}}, {"sourceInstanceTemplate": "global/instanceTemplates/t", "instanceProperties": {"labels": {}}}, "instanceProperties.labels"),
    "BulkInstances: gcpx_labels_are_reserved": ({"instanceProperties": {**FLEET_PROPERTIES, "labels": {"a": "b"}}}, {"instanceProperties": {**FLEET_PROPERTIES, "labels": {"gcpx-bulk": "b"}}}, "instanceProperties.labels.gcpx-bulk"),
    "BulkInstances: membership_label_is_kept": ({"fleetId": "labels/a=b", "instanceProperties": {**FLEET_PROPERTIES, "labels": {"a": "b"}}}, {"fleetId": "labels/a=b"}, "instanceProperties.labels.a"),
    "BulkInstances: membership_names_are_kept": ({"fleetId": "namePattern/web-###"}, {"fleetId": "namePattern/web-##"}, "namePattern"),
    "BulkInstances.region form": ({"region": "regions/us-east1"}, {"region": "us-east1-b"}),
    "BulkInstances: boot_disks_are_not_from_snapshots": ({"instanceProperties": {"disks": [BOOT, {"initializeParams": {"sourceSnapshot": "s"}}]}}, {"instanceProperties": {"disks": [{"boot": True, "initializeParams": {"sourceSnapshot": "s"}}]}}, "instanceProperties.disks[0].initializeParams.sourceSnapshot"),
    "BulkInstances: sole_tenant_nodes_are_not_used": ({"instanceProperties": {"scheduling": {"nodeAffinities": []}}}, {"instanceProperties": {"scheduling": {"nodeAffinities": [{"key": "k", "operator": "IN", "values": ["v"]}]}}}, "instanceProperties.scheduling.nodeAffinities"),
    "BulkInstances: machine_type_is_a_bare_name": ({"instanceProperties": {"machineType": "e2-small"}}, {"instanceProperties": {"machineType": "zones/us-east1-b/machineTypes/e2-small"}}, "instanceProperties.machineType"),
    "BulkInstances: boot_disk_is_required": ({"instanceProperties": None, "sourceInstanceTemplate": "global/instanceTemplates/t"}, {"instanceProperties": {"disks": None}}, "instanceProperties.disks"),
    "BulkInstances: regional_template_is_in_the_region": ({"sourceInstanceTemplate": "regions/us-east1/instanceTemplates/t"}, {"sourceInstanceTemplate": "regions/us-west1/instanceTemplates/t"}, "sourceInstanceTemplate"),
    "BulkInstances: flex_start_has_a_run_limit": ({"instanceProperties": {"scheduling": {"provisioningModel": "FLEX_START", "maxRunDuration": {"seconds": 604_800}}}}, {"instanceProperties": {"scheduling": {"provisioningModel": "FLEX_START"}}}, "instanceProperties.scheduling.maxRunDuration"),
    "BulkInstances: bound_instances_name_a_reservation": ({"instanceProperties": {"scheduling": {"provisioningModel": "RESERVATION_BOUND"}, "reservationAffinity": RESERVED}}, {"instanceProperties": {"scheduling": {"provisioningModel": "RESERVATION_BOUND"}}}, "instanceProperties.reservationAffinity"),
    "BulkInstances: fallbacks_fit_the_instance_properties": ({"fallbacks": [{"provisioningModel": "SPOT"}]}, {"fallbacks": [{"provisioningModel": "SPOT"}], "instanceProperties": {"scheduling": {"onHostMaintenance": "MIGRATE"}}}, "fallbacks[0]"),
    "BulkInstances: fallbacks_differ": ({"fallbacks": [{"machineType": "n2-standard-2"}, {"machineType": "e2-medium"}]}, {"fallbacks": [{"machineType": "n2-standard-2"}, {"machineType": "n2-standard-2"}]}, "fallbacks[1]"),
    "BulkInstances: fallback_zones_are_in_the_region": ({"fallbacks": [{"zones": ["zones/us-east1-c"]}]}, {"fallbacks": [{"zones": ["us-east1-c", "us-west1-b"]}]}, "fallbacks[0].zones[1]"),
    "BulkInstances: zones_are_in_the_region": (
        {"locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]}},
        {"locationPolicy": {"zones": [{"zone": "zones/us-west1-b"}]}},
        "locationPolicy.zones[0].zone",
    ),
    "BulkInstances: links_are_in_the_region": (
        {"instanceProperties": {"networkInterfaces": [{"subnetwork": "projects/host/regions/us-east1/subnetworks/s"}], "disks": [BOOT, {"source": "zones/us-east1-c/disks/d"}]}},
        {"instanceProperties": {"networkInterfaces": [{}, {"subnetwork": "https://www.googleapis.com/compute/v1/projects/host/regions/us-west1/subnetworks/s"}]}},
        "instanceProperties.networkInterfaces[1].subnetwork",
    ),
    "BulkInstances: disks_are_in_allowed_zones": (
        {"locationPolicy": ONLY_B, "fallbacks": [{"zones": ["us-east1-c"]}], "instanceProperties": {"disks": [BOOT, {"source": "zones/us-east1-c/disks/d"}, disk(replicaZones=["zones/us-east1-b", "zones/us-east1-d"])]}},
        {"locationPolicy": ONLY_B, "instanceProperties": {"disks": [BOOT, {"source": "zones/us-east1-c/disks/d"}]}},
        "instanceProperties.disks[1].source",
    ),
    "BulkInstances: addresses_are_for_one_instance": (
        {"minCount": 1, "instanceProperties": {"networkInterfaces": [{"networkIP": "10.0.0.2", "accessConfigs": [{"natIP": "203.0.113.7"}]}]}},
        {"instanceProperties": {"networkInterfaces": [{"accessConfigs": [{"natIP": "203.0.113.7"}]}]}},
        "instanceProperties.networkInterfaces[0].accessConfigs[0].natIP",
    ),
    "InstanceFlexibilityPolicy: selections_have_names": (FLEXIBLE, {"instanceSelections": {"Small": {"machineTypes": ["e2-small"]}}}, "instanceSelections.Small"),
    "BulkInstances: network_interface_is_required": (
        {"instanceProperties": {"networkInterfaces": [{}]}},
        {"instanceProperties": {"networkInterfaces": []}},
        "instanceProperties.networkInterfaces",
    ),
    "BulkInstances: fallback_labels_can_be_set": ({"sourceInstanceTemplate": "global/instanceTemplates/t", "fleetId": "namePattern/web-###", "instanceProperties": {"labels": {"a": None}}, "fallbacks": [{"zones": ["us-east1-c"]}]}, {"sourceInstanceTemplate": "global/instanceTemplates/t", "fleetId": "namePattern/web-###", "instanceProperties": {"labels": None}, "fallbacks": [{"zones": ["us-east1-c"]}]}, "instanceProperties.labels"),
    "BulkInstances: placement_has_room_for_all": ({"placement": {"policies": ["a", "b"], "membersPerPolicy": 2}}, {"placement": {"policies": ["a"], "membersPerPolicy": 2}}, "placement.policies"),
    "BulkInstances: zones_have_room_for_all": (
        {"locationPolicy": {"targetShape": "ANY", "zones": [{"zone": "zones/us-east1-b"}, {"zone": "zones/us-east1-c"}], "locations": {"zones/us-east1-b": {"constraints": {"maxCount": 1}}, "zones/us-east1-c": {"constraints": {"maxCount": 2}}}}},
        {"locationPolicy": {"targetShape": "ANY", "zones": [{"zone": "zones/us-east1-b"}, {"zone": "zones/us-east1-c"}], "locations": {"zones/us-east1-b": {"constraints": {"maxCount": 1}}, "zones/us-east1-c": {"constraints": {"maxCount": 1}}}}},
        "locationPolicy.locations",
    ),
    "BulkInstances: placement_groups_stay_in_one_zone": ({"placement": {"policies": ["a"]}, "fallbacks": [{"machineType": "n2-standard-2"}]}, {"placement": {"policies": ["a"]}, "locationPolicy": {"targetShape": "BALANCED"}}, "locationPolicy.targetShape"),
    "InstanceSelection: selected_machine_types_are_bare_names": ({"machineTypes": ["n2-standard-4"]}, {"machineTypes": ["n2-standard-4", "zones/us-east1-b/machineTypes/e2-small"]}, "machineTypes[1]"),
    "Fallback.machineType form": ({"machineType": "n2-standard-2"}, {"machineType": "n2 standard"}),
    "Fallback.provisioningModel values": ({"provisioningModel": "SPOT"}, {"provisioningModel": "SPOTX"}),
    "Fallback.provisioningModel new values": ({"provisioningModel": "SPOT"}, {"provisioningModel": "NEW_VALUE_42"}),
    "Fallback.zones form": ({"zones": ["us-east1-b"]}, {"zones": ["us-east1"]}, "zones[0]"),
    "Fallback: fallback_machine_type_is_a_bare_name": ({"machineType": "n2-standard-2"}, {"machineType": "zones/us-east1-b/machineTypes/n2-standard-2"}, "machineType"),
    "Fallback: only one of machineType, instanceFlexibilityPolicy": ({"instanceFlexibilityPolicy": FLEXIBLE}, {"machineType": "n2-standard-2", "instanceFlexibilityPolicy": FLEXIBLE}, "instanceFlexibilityPolicy"),
    "Placement.policies required": ({"policies": ["a"]}, {"membersPerPolicy": 3}),
    "Placement.membersPerPolicy least": ({"policies": ["a", "b", "c"], "membersPerPolicy": 1}, {"policies": ["a"], "membersPerPolicy": 0}),
    "Placement.membersPerPolicy most": ({"policies": ["a"], "membersPerPolicy": 1500}, {"policies": ["a"], "membersPerPolicy": 1501}),
    "Placement: placement_policies_differ": ({"policies": ["a", "b"]}, {"policies": ["a", "regions/us-east1/resourcePolicies/a"]}, "policies[1]"),
    "BulkInstances: surge_fits_the_name_pattern": ({"namePattern": "a-#", "updatePolicy": {"maxSurge": 6}}, {"namePattern": "a-#", "updatePolicy": {"maxSurge": 7}}, "updatePolicy.maxSurge"),
    "BulkInstances: surge_fits_the_placement": ({"placement": {"policies": ["a"], "membersPerPolicy": 4}, "updatePolicy": {"maxSurge": 1}}, {"placement": {"policies": ["a"], "membersPerPolicy": 4}, "updatePolicy": {"maxSurge": 2}}, "updatePolicy.maxSurge"),
    "BulkInstances: named_fleets_have_no_surge": ({**NAMED, "updatePolicy": {"maxSurge": "0%"}}, {**NAMED, "updatePolicy": {"maxSurge": "1%"}}, "updatePolicy.maxSurge"),
    "BulkInstances: actions_are_allowed_by_the_policy": (
        {"rollingAction": RESTARTED, "updatePolicy": {"mostDisruptiveAction": "RESTART"}},
        {"rollingAction": RESTARTED, "updatePolicy": {"mostDisruptiveAction": "REFRESH"}},
        "rollingAction.action",
    ),
    "BulkInstances: chosen_members_exclude_a_pause": (
        {"rollingAction": {**RESTARTED, "members": ["1"]}},
        {"rollingAction": {**RESTARTED, "members": ["1"]}, "updatePolicy": {"pauseAfter": 1}},
        "rollingAction.members",
    ),
    "RollingAction.action required": (RESTARTED, {"trigger": "a"}),
    "RollingAction.action values": (RESTARTED, {"action": "REFRESH", "trigger": "a"}),
    "RollingAction.trigger required": (RESTARTED, {"action": "RESTART"}),
    "RollingAction.members form": ({**RESTARTED, "members": ["1", "web-1"]}, {**RESTARTED, "members": ["Web-1"]}, "members[0]"),
    "BulkInstances: guest_attributes_are_enabled": ({"instanceProperties": {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "true"}]}}, **ASKING}, {"instanceProperties": {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "false"}]}}, **ASKING}, "updatePolicy.ready.guestAttribute"),
    "UpdatePolicy: replacing_needs_an_instance_to_spare": ({"maxUnavailable": 0, "maxSurge": 1}, {"maxUnavailable": "0%"}, "maxUnavailable"),
    "UpdatePolicy: names_are_kept_without_surge": ({"keepNames": True, "maxSurge": "0%"}, {"keepNames": True, "maxSurge": "10%"}, "maxSurge"),
    "UpdatePolicy: least_action_is_not_above_the_most": ({"minimalAction": "RESTART", "mostDisruptiveAction": "RESTART"}, {"minimalAction": "REPLACE", "mostDisruptiveAction": "RESTART"}, "minimalAction"),
    "Readiness.guestAttribute form": ({"guestAttribute": "app/state=ready"}, {"guestAttribute": "state=ready"}),
    "Readiness.within least": ({"within": 1}, {"within": 0}),
    "Readiness.stableFor least": ({"stableFor": 0}, {"stableFor": -1}),
    "Readiness.stableFor most": ({"stableFor": 3600}, {"stableFor": 3601}),
    "LocationPolicyZone.zone form": ({"zone": "zones/us-east1-b"}, {"zone": "us-east1"}),
    "LocationPolicy: locations_are_zones": ({"locations": {"zones/us-east1-b": {}}}, {"locations": {"us-east1-b": {}}}, "locations.us-east1-b"),
    "LocationConstraints.maxCount least": ({"maxCount": 0}, {"maxCount": -1}),
    "PerInstanceProperties.hostname form": ({"hostname": "a.example.com"}, {"hostname": "a_b.example.com"}),
    # attachments, images, notifications, keys
    "DiskAttachment.deviceName length": ({"deviceName": NAME63}, {"deviceName": NAME64}),
    "DiskAttachment.diskSizeGb least": ({"diskSizeGb": 1}, {"diskSizeGb": 0}),
    "DiskAttachment.disk form": ({"disk": "regions/us-east1/disks/d"}, {"disk": "a/b/c"}),
    "DiskAttachment.zone form": ({"zone": "zones/us-east1-b"}, {"zone": "us-east1"}),
    "DiskAttachment.instance form": ({"instance": "projects/p/zones/z/instances/i"}, {"instance": "regions/r/i/x"}),
    "DiskAttachment: instance_is_in_project_and_zone": ({"instance": "zones/us-east1-b/instances/vm", "zone": "us-east1-b"}, {"instance": "zones/us-east1-b/instances/vm", "zone": "us-east1-c"}, "zone"),
    "DiskAttachment: disk_is_in_the_zone": ({"instance": "vm", "disk": "zones/us-east1-b/disks/d", "zone": "us-east1-b"}, {"instance": "vm", "disk": "zones/us-east1-b/disks/d", "zone": "us-east1-c"}, "disk"),
    "DiskAttachment: force_attach_requires_regional_disk": ({"disk": "regions/us-east1/disks/d", "forceAttach": True}, {"forceAttach": True}, "forceAttach"),
    "MachineImage.description length": ({"description": "d" * 2048}, {"description": "d" * 2049}),
    "MachineImage.sourceInstance form": ({"sourceInstance": "zones/z/instances/i"}, {"sourceInstance": "i"}),
    "MachineImageParams: only one of excludedDisks, includedDisks": ({"includedDisks": ["a"]}, {"includedDisks": ["a"], "excludedDisks": ["b"]}, "includedDisks"),
    "NotificationConfig.bucket form": ({"bucket": "abc"}, {"bucket": "ab"}),
    "NotificationConfig.objectNamePrefix length": ({"objectNamePrefix": "p" * 1024}, {"objectNamePrefix": "p" * 1025}),
    "NotificationConfig.topic form": ({"topic": "abc"}, {"topic": "ab"}),
    "NotificationConfig: custom_attributes_are_at_most_5": ({"customAttributes": dict.fromkeys("abcde", "v")}, {"customAttributes": dict.fromkeys("abcdef", "v")}, "customAttributes"),
    "SshKey.expirationTimeUsec form": ({"expirationTimeUsec": "1924991999000000"}, {"expirationTimeUsec": "tomorrow"}),
    "SshKey.projectId form": ({"projectId": "my-project"}, {"projectId": "my project"}),
    "SshKey.regions form": ({"regions": ["us-east1"], "projectId": "p"}, {"regions": ["us-east1-b"], "projectId": "p"}, "regions[0]"),
    "SshKey: expiration_time_is_in_microseconds": ({"expirationTimeUsec": "1924991999000000"}, {"expirationTimeUsec": "1924991999"}, "expirationTimeUsec"),
    "SshKey: regions_require_a_project": ({"regions": ["us-east1"], "projectId": "p"}, {"regions": ["us-east1"]}, "regions"),
    "SshKey.user form": ({"user": "users/me@example.com"}, {"user": "a/b"}),
    "SshKey: key_is_an_ssh_public_key": ({}, {"key": f"ssh-rsa {BLOB}"}, "key"),
    # functions
    **{f"{owner}.itemFields form": ({"itemFields": ["disks/source"]}, {"itemFields": ["a b"]}, "itemFields[0]") for owner in ("AggregatedListParameters", "InstanceTemplateListParameters", "RegionListParameters")},
    **{f"{owner}.maxResults least": ({"maxResults": 0}, {"maxResults": -1}) for owner in ("AggregatedListParameters", "InstanceTemplateListParameters", "RegionListParameters")},
    **{f"{owner}.maxResults most": ({"maxResults": 500}, {"maxResults": 501}) for owner in ("AggregatedListParameters", "InstanceTemplateListParameters", "RegionListParameters")},
    **{f"{owner}: filter_and_order_can_be_parsed": ({"filter": "name = a", "orderBy": "creationTimestamp desc"}, {"filter": "name ~ a"}, "filter") for owner in ("AggregatedListParameters", "InstanceTemplateListParameters", "RegionListParameters")},
    "AggregatedListParameters.serviceProjectNumber form": ({"serviceProjectNumber": "123"}, {"serviceProjectNumber": "my-project"}),
    "RegionListParameters: only one of itemFields, omitQuotas": ({"omitQuotas": True}, {"itemFields": ["name"], "omitQuotas": True}, "omitQuotas"),
    "OperationQuery: only one of region, zone": ({"zone": "z"}, {"zone": "z", "region": "r"}, "zone"),
    "OperationQuery.region form": ({"region": "us-east1"}, {"region": "us-east1-b"}),
    "OperationQuery.zone form": ({"zone": "us-east1-b"}, {"zone": "us-east1"}),
    "OperationQuery: name_is_a_name_or_a_link": ({"name": "projects/p/zones/z/operations/o"}, {"name": "operations/o"}, "name"),
    "PushTokenQuery: audience_behind_a_proxy_is_a_service": ({"audience": "/projects/1/apps/p", "identityAwareProxy": True}, {"audience": "x", "identityAwareProxy": True}, "audience"),
    "PushTokenQuery.clockSkewSeconds least": ({"clockSkewSeconds": 0}, {"clockSkewSeconds": -1}),
    "PushTokenQuery.clockSkewSeconds most": ({"clockSkewSeconds": 300}, {"clockSkewSeconds": 301}),
    **{f"{owner}: resource_manager_tags_have_a_known_form": ({"resourceManagerTags": {"tagKeys/1": "tagValues/2", "my-project/env": "prod"}}, {"resourceManagerTags": {"env": "prod"}}, "resourceManagerTags.env") for owner in ("InstanceProperties", "AttachedDiskInitializeParams", "MachineImageParams")},
    # values that need other properties
    "AccessConfig.type values": ({"type": "ONE_TO_ONE_NAT"}, {"type": "ONE_TO_ONE"}),
    "AccessConfig.type new values": None,
    "Scheduling.instanceTerminationAction values": ({"instanceTerminationAction": "STOP", "provisioningModel": "SPOT"}, {"instanceTerminationAction": "STOPP", "provisioningModel": "SPOT"}),
    "Scheduling.instanceTerminationAction new values": ({"instanceTerminationAction": "STOP", "provisioningModel": "SPOT"}, {"instanceTerminationAction": "NEW_VALUE_42", "provisioningModel": "SPOT"}),
    # properties that elements of lists require
    "GuestOsFeature.type required": ({"type": "GVNIC"}, {}),
    "MetadataItem.key required": ({"key": "k"}, {"value": "v"}),
    "LocationPolicyZone.zone required": ({"zone": "zones/us-east1-b"}, {}),
}  # fmt: skip
"""By rule: content that it accepts, content that it refuses or warns about, the path of the finding within the object.

Content is merged into valid inputs, and None removes a property. The path is left out where it is the rule's property.
A rule without a case here takes its case from its declaration (`_case`); None marks a rule that no inputs can reach.
"""
LIST_PROPERTIES = {"NotificationConfig.eventTypes"}
TESTED = {key: row for key, row in ROWS.items() if CASES.get(key, "from the declaration") is not None}
UNREACHABLE = {"AccessConfig.type new values": "each list of access configs accepts only its own type"}
PLACES = {
    "AccessConfig.externalIpv6PrefixLength": ("properties", "networkInterfaces", "[]", "ipv6AccessConfigs", "[]"),
    **{
        f"AttachedDisk: {name}": ("properties", "disks", 1)
        for name in (
            "force_attach_requires_regional_disk",
            "scratch_disks_are_local_ssds",
            "local_ssds_are_blank",
            "large_local_ssds_require_nvme",
            "local_ssds_have_a_known_size",
        )
    },
    "Duration": ("properties", "scheduling", "maxRunDuration"),
}
"""Where to put an object if another rule refuses the case's content at the object's shortest path."""
SURROUNDINGS = {
    "LocationConstraints": {"locationPolicy": {"locations": {"zones/us-east1-c": {}}}},
    "PerInstanceProperties": {"namePattern": None, "count": None},
    **{name: {"sourceInstance": "zones/z/instances/i", "properties": None} for name in ("DiskInstantiationConfig", "SourceInstanceParams")},
}  # fmt: skip
"""What an object needs around it: content that is merged into the inputs before the case's own."""
ZONE_KEY = "zones/us-east1-b"


def _case(row):
    """Return the case of a rule; those of known values and of required properties follow from the declaration."""
    if row.key in CASES:
        return CASES[row.key]
    if row.kind == "required":
        return {}, {row.property: None}
    values = row if row.kind == "values" else ROWS[f"{row.object}.{row.property} values"]
    known = values.words.split("`")[1]
    other = f"{known}X" if row.kind == "values" else "NEW_VALUE_42"
    if f"{row.object}.{row.property}" in LIST_PROPERTIES:
        return {row.property: [known]}, {row.property: [other]}
    return {row.property: known}, {row.property: other}


def _object_path(row):
    """Return the path of the rule's object in the inputs, with an index or key for each element of a list or map."""
    path = PLACES.get(row.key) or PLACES.get(f"{row.object}.{row.property}") or PLACES.get(row.object) or row.path
    before = ("", *path)
    return [0 if part == "[]" else (ZONE_KEY if before[index] == "locations" else "a") if part == "*" else part
            for index, part in enumerate(path)]  # fmt: skip


def _merge_at(owner, path, content):
    """Merge content into the object at a path, which is created if it is missing."""
    if not path:
        _merge(owner, content)
        return
    head, *rest = path
    empty = [] if rest[:1] == [0] else {}
    if not isinstance(head, int):
        owner.setdefault(head, empty)
    elif head == len(owner):
        owner.append(empty)
    _merge_at(owner[head], rest, content)


def _merge(owner, content):
    for name, value in content.items():
        if value is None and name in owner:
            owner.pop(name)
        elif isinstance(value, dict) and isinstance(owner.get(name), dict):
            _merge(owner[name], value)
        else:
            owner[name] = copy.deepcopy(value)


def _inputs(row, content):
    """Return valid inputs with what the rule's object needs around it, and with the content merged into that object."""
    inputs = copy.deepcopy(BASE.get(row.token, {}))
    _merge(inputs, SURROUNDINGS.get(row.object, {}))
    _merge_at(inputs, _object_path(row), content)
    return inputs


@pytest.fixture(scope="module")
def emulated_engine(_emulator):
    """An engine whose functions call the emulator."""
    with driver.engine(project="demo", emulatorHost=_emulator.host) as engine:
        yield engine


def _findings(engine, row, content):
    """Check the content, and give failures and warnings, each as one text of path and reason."""
    engine.log.messages.clear()
    inputs = _inputs(row, content)
    if row.token in BASE and ":get" not in row.token and ":verify" not in row.token:
        fleet_id = str(inputs.get("fleetId"))  # only fleets that exist have some forms of it
        olds = {"fleetId": fleet_id} if "/" in fleet_id else None
        found = engine.check(row.token, "x", inputs, olds).failures
        failures = [f"{failure.property} {failure.reason}" for failure in found]
    else:
        try:
            failures = [f"{name} {reason}" for name, reason in engine.refusals(row.token, **inputs).items()]
        except grpc.RpcError:
            failures = []  # the inputs were accepted, and the call failed because the emulator is empty
    return failures, [message for severity, _, message in engine.log.messages if severity == "WARNING"]


def _finding_path(row, where):
    path = format_path(tuple(_object_path(row)))
    return f"{path}.{where}" if path else where


@pytest.mark.parametrize("key", TESTED)
def test_both_sides(emulated_engine, key):
    row = ROWS[key]
    good, bad, *where = _case(row)
    path = _finding_path(row, where[0] if where else row.property)
    failures_of_good, warnings_of_good = _findings(emulated_engine, row, good)
    failures, warnings = _findings(emulated_engine, row, bad)

    assert failures_of_good == [], "a rule accepts its good content"
    if row.warns:
        assert not [text for text in warnings_of_good if text.startswith(path) and row.kind != "deprecated"]
        assert failures == [], "a rule that warns accepts its bad content, too"
        assert [text for text in warnings if text.startswith(path)]
    elif "needs one of" in path:
        assert [text for text in failures if "needs one of" in text]
    else:
        assert [text for text in failures if text.strip().startswith(path)], failures


WRONG = ("x", 7, ["x"], [7], {"a": "x"}, {"a": {}}, [{"a": []}])
"""Values of which each property refuses some."""


@pytest.mark.parametrize("key", [key for key in TESTED if ": " in key and ROWS[key].token in INPUTS])
def test_a_rule_skips_values_of_wrong_types(key):
    """The check of types refuses them."""
    row = ROWS[key]
    inputs = _inputs(row, _case(row)[1])
    with driver.direct(project="demo") as offline:
        for name in object_type(resource_class(row.token).model).inputs:
            for wrong in WRONG:
                offline.check(row.token, "x", {**inputs, name: wrong})


def test_every_rule_has_a_case():
    assert set(CASES) <= set(ROWS), "there are cases of rules that no longer exist"
    assert {key for key, case in CASES.items() if case is None} == set(UNREACHABLE)
    by_hand = {key for key, row in ROWS.items() if row.kind not in {"values", "new values", "required"}}
    assert by_hand <= set(CASES)


MORE = {
    "region of a policy": (FLEET, {"instanceProperties": {"resourcePolicies": ["regions/us-west1/resourcePolicies/p"]}}, "instanceProperties.resourcePolicies[0]"),
    "region of a placement": (FLEET, {"placement": {"policies": ["regions/us-west1/resourcePolicies/p"]}}, "placement.policies[0]"),
    "zone of a disk": (FLEET, {"instanceProperties": {"disks": [BOOT, {"source": "zones/us-west1-b/disks/d"}]}}, "instanceProperties.disks[1].source"),
    "region of an address": (FLEET, {"count": 1, "instanceProperties": {"networkInterfaces": [{"networkIP": "regions/us-west1/addresses/a"}]}}, "instanceProperties.networkInterfaces[0].networkIP"),
    "zone of a disk of a selection": (FLEET, {"instanceFlexibilityPolicy": {"instanceSelections": {"a": {"machineTypes": ["e2-small"], "disks": [BOOT, {"source": "zones/us-west1-b/disks/d"}]}}}}, "instanceFlexibilityPolicy.instanceSelections.a.disks[1].source"),
    "denied zone": (FLEET, {"locationPolicy": {"locations": {"zones/us-east1-b": {"preference": "DENY"}}}, "instanceProperties": {"disks": [BOOT, {"source": "zones/us-east1-b/disks/d"}]}}, "instanceProperties.disks[1].source"),
    "replica zones": (FLEET, {"locationPolicy": ONLY_B, "instanceProperties": {"disks": [BOOT, disk(replicaZones=["zones/us-east1-c", "zones/us-east1-d"])]}}, "instanceProperties.disks[1].initializeParams.replicaZones"),
    "service class": ("gcpx:compute:InstanceTemplate", {"properties": {"networkInterfaces": [{"serviceClassId": "x"}]}}, "properties.networkInterfaces[0].serviceClassId"),
    "region of an attached disk": ("gcpx:compute:DiskAttachment", {"instance": "zones/us-east1-b/instances/vm", "disk": "regions/us-west1/disks/d"}, "disk"),
    "expiration that is too late": ("gcpx:oslogin:SshKey", {"expirationTimeUsec": str(1 << 63)}, "expirationTimeUsec"),
}  # fmt: skip
"""More inputs that rules refuse: the resource, what differs from valid inputs, and the path of the failure."""


@pytest.mark.parametrize(("token", "changed", "path"), MORE.values(), ids=MORE)
def test_what_google_always_refuses_is_refused_before(emulated_engine, token, changed, path):
    inputs = copy.deepcopy(BASE[token])
    _merge(inputs, changed)

    assert list(emulated_engine.failures(token, inputs)) == [path]


def test_a_zone_that_is_allowed_excludes_no_other(emulated_engine):
    """As gcloud's help says: zones without a preference are allowed."""
    only = {"preference": "ALLOW", "constraints": {"maxCount": 1}}
    inputs = copy.deepcopy(BASE[FLEET])
    places = {"targetShape": "ANY", "locations": {"zones/us-east1-b": only}}
    _merge(
        inputs,
        {
            "count": 5,
            "locationPolicy": places,
            "instanceProperties": {"disks": [BOOT, {"source": "zones/us-east1-c/disks/d"}]},
        },
    )

    assert list(emulated_engine.failures(FLEET, inputs)) == []
