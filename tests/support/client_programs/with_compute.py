"""The life of instances, disks, images and networks with google-cloud-compute."""

from google.cloud import compute_v1
from steps import IMAGE, PROJECT, REGION, ZONE, step

IN_ZONE, IN_REGION = {"project": PROJECT, "zone": ZONE}, {"project": PROJECT, "region": REGION}

with step("read zones and machine types"):
    assert ZONE in [zone.name for zone in compute_v1.ZonesClient().list(project=PROJECT)]
    compute_v1.MachineTypesClient().get(machine_type="e2-small", **IN_ZONE)
with step("find an image by its family"):
    image = compute_v1.ImagesClient().get_from_family(project="debian-cloud", family="debian-12")
with step("create a network, a subnetwork and a firewall rule"):
    network = compute_v1.Network(name="inside", auto_create_subnetworks=False)
    compute_v1.NetworksClient().insert(project=PROJECT, network_resource=network).result()
    link = f"projects/{PROJECT}/global/networks/inside"
    subnetwork = compute_v1.Subnetwork(name="workers", network=link, ip_cidr_range="10.9.0.0/24")
    compute_v1.SubnetworksClient().insert(subnetwork_resource=subnetwork, **IN_REGION).result()
    rule = compute_v1.Firewall(name="ssh", network=link, allowed=[compute_v1.Allowed(I_p_protocol="tcp", ports=["22"])])
    compute_v1.FirewallsClient().insert(project=PROJECT, firewall_resource=rule).result()
with step("reserve an address"):
    compute_v1.AddressesClient().insert(address_resource=compute_v1.Address(name="kept"), **IN_REGION).result()
with step("create an instance"):
    boot = compute_v1.AttachedDisk(
        boot=True, auto_delete=True, initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE)
    )
    instance = compute_v1.Instance(
        name="web",
        machine_type=f"zones/{ZONE}/machineTypes/e2-small",
        disks=[boot],
        network_interfaces=[compute_v1.NetworkInterface(subnetwork=f"regions/{REGION}/subnetworks/workers")],
    )
    instances = compute_v1.InstancesClient()
    instances.insert(instance_resource=instance, **IN_ZONE).result()
with step("list instances with a filter, and those of all zones"):
    assert [found.name for found in instances.list(compute_v1.ListInstancesRequest(filter="name=web", **IN_ZONE))]
    assert any(scope.instances for _, scope in instances.aggregated_list(project=PROJECT))
with step("attach and detach a disk"):
    compute_v1.DisksClient().insert(disk_resource=compute_v1.Disk(name="data", size_gb=10), **IN_ZONE).result()
    attached = compute_v1.AttachedDisk(source=f"projects/{PROJECT}/zones/{ZONE}/disks/data", device_name="data")
    instances.attach_disk(instance="web", attached_disk_resource=attached, **IN_ZONE).result()
    instances.detach_disk(instance="web", device_name="data", **IN_ZONE).result()
with step("take a snapshot and make an image"):
    snapshot = compute_v1.Snapshot(name="data-1")
    compute_v1.DisksClient().create_snapshot(disk="data", snapshot_resource=snapshot, **IN_ZONE).result()
    copied = compute_v1.Image(name="data-image", source_snapshot=f"projects/{PROJECT}/global/snapshots/data-1")
    compute_v1.ImagesClient().insert(project=PROJECT, image_resource=copied).result()
with step("stop an instance, change its machine type and start it"):
    instances.stop(instance="web", **IN_ZONE).result()
    larger = compute_v1.InstancesSetMachineTypeRequest(machine_type=f"zones/{ZONE}/machineTypes/e2-medium")
    instances.set_machine_type(instance="web", instances_set_machine_type_request_resource=larger, **IN_ZONE).result()
    instances.start(instance="web", **IN_ZONE).result()
with step("set metadata and labels"):
    found = instances.get(instance="web", **IN_ZONE)
    found.metadata.items = [compute_v1.Items(key="purpose", value="test")]
    instances.set_metadata(instance="web", metadata_resource=found.metadata, **IN_ZONE).result()
    labels = compute_v1.InstancesSetLabelsRequest(labels={"a": "b"}, label_fingerprint=found.label_fingerprint)
    instances.set_labels(instance="web", instances_set_labels_request_resource=labels, **IN_ZONE).result()
with step("create instances from a template, in bulk"):
    properties = compute_v1.InstanceProperties(
        machine_type="e2-small",
        disks=[boot],
        network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")],
    )
    template = compute_v1.InstanceTemplate(name="web", properties=properties)
    compute_v1.InstanceTemplatesClient().insert(project=PROJECT, instance_template_resource=template).result()
    bulk = compute_v1.BulkInsertInstanceResource(
        count=3, name_pattern="web-#", source_instance_template=f"projects/{PROJECT}/global/instanceTemplates/web"
    )
    instances.bulk_insert(bulk_insert_instance_resource_resource=bulk, **IN_ZONE).result()
with step("read the serial port"):
    instances.get_serial_port_output(instance="web", **IN_ZONE)
with step("create a managed instance group"):
    group = compute_v1.InstanceGroupManager(
        name="group", base_instance_name="group", target_size=1, instance_template="global/instanceTemplates/web"
    )
    compute_v1.InstanceGroupManagersClient().insert(instance_group_manager_resource=group, **IN_ZONE).result()
with step("delete an instance"):
    instances.delete(instance="web", **IN_ZONE).result()
