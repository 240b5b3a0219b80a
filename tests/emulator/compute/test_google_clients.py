"""The emulator judged by Google's own clients."""

from __future__ import annotations

import httpx
import pytest
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1, oslogin_v1, storage
from google.cloud.oslogin_v1.common import SshPublicKey
from google.cloud.oslogin_v1.services.os_login_service.transports.rest import OsLoginServiceRestTransport
from google.protobuf import field_mask_pb2
from programs import BLOB, BUCKET, FINGERPRINT, PROJECT, USER
from steered import HANGS, HOUR

IMAGE = "projects/debian-cloud/global/images/family/debian-12"


OPERATIONS = {
    "global_operations": compute_v1.GlobalOperationsClient,
    "region_operations": compute_v1.RegionOperationsClient,
    "zone_operations": compute_v1.ZoneOperationsClient,
}


def _client(kind, cloud):
    options = {"host": cloud.host, "url_scheme": "http", "credentials": AnonymousCredentials()}
    transport = kind.get_transport_class("rest")(**options)
    # A client makes those that follow its operations by itself, and for Google's own host.
    for name, operations in OPERATIONS.items():
        polling = operations.get_transport_class("rest")(**options)
        getattr(transport, "_extended_operations_services", {})[name] = operations(transport=polling)
    return kind(transport=transport)


def _properties(**more):
    disk = compute_v1.AttachedDisk(
        boot=True, initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE, disk_size_gb=20)
    )
    nic = compute_v1.NetworkInterface(network="global/networks/default", access_configs=[compute_v1.AccessConfig()])
    return compute_v1.InstanceProperties(machine_type="e2-small", disks=[disk], network_interfaces=[nic], **more)


@pytest.fixture
def templates(cloud):
    return _client(compute_v1.InstanceTemplatesClient, cloud)


def _insert(templates, name, **more):
    template = compute_v1.InstanceTemplate(name=name, properties=_properties(**more))
    return templates.insert(project=PROJECT, instance_template_resource=template)


def test_a_template_is_made_read_listed_and_deleted(templates, cloud):
    cloud.hold_operations()
    operation = _insert(templates, "web", labels={"app": "web"})
    assert not operation.done()
    cloud.finish_operations()
    operation.result()
    found = templates.get(project=PROJECT, instance_template="web")

    assert operation.done()
    assert (found.name, found.properties.labels["app"], found.properties.disks[0].index) == ("web", "web", 0)
    assert found.properties.network_interfaces[0].network.endswith("/projects/demo-project/global/networks/default")
    assert found.properties.network_interfaces[0].access_configs[0].type_ == "ONE_TO_ONE_NAT"
    assert [item.name for item in templates.list(project=PROJECT)] == ["web"]
    templates.delete(project=PROJECT, instance_template="web").result()
    assert list(templates.list(project=PROJECT)) == []


def test_errors_are_what_the_clients_expect(templates):
    _insert(templates, "web").result()
    with pytest.raises(exceptions.NotFound, match=r"instanceTemplates/missing' was not found"):
        templates.get(project=PROJECT, instance_template="missing")
    with pytest.raises(exceptions.Conflict, match="already exists"):
        _insert(templates, "web")
    with pytest.raises(exceptions.BadRequest, match=r"resource\.name"):
        _insert(templates, "Bad_Name")


def test_a_failed_operation_is_raised_by_the_client(templates, cloud):
    cloud.fail(
        "compute.instanceTemplates.insert", operation={"errors": [{"code": "QUOTA_EXCEEDED", "message": "no quota"}]}
    )
    with pytest.raises(exceptions.GoogleAPICallError, match="no quota"):
        _insert(templates, "web").result()


def test_one_request_id_makes_one_template(templates):
    template = compute_v1.InstanceTemplate(name="web", properties=_properties())
    request = compute_v1.InsertInstanceTemplateRequest(
        project=PROJECT, instance_template_resource=template, request_id="3f1c6d0e-93c9-4b50-9d8f-0a5a3a0b1c2d"
    )
    first, second = templates.insert(request=request), templates.insert(request=request)

    assert first.name == second.name
    request.request_id = "00000000-0000-0000-0000-000000000000"
    with pytest.raises(exceptions.BadRequest, match="requestId"):
        templates.insert(request=request)


def test_lists_come_in_pages_and_are_filtered_and_ordered(templates):
    for name in ("c", "a", "b"):
        _insert(templates, name).result()
    request = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, max_results=2)
    pages = [[item.name for item in page.items] for page in templates.list(request=request).pages]

    assert pages == [["a", "b"], ["c"]]
    newest = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, order_by="creationTimestamp desc")
    assert next(iter(templates.list(request=newest))).name in {"b", "c"}
    chosen = compute_v1.ListInstanceTemplatesRequest(project=PROJECT, filter='name = "b"')
    assert [item.name for item in templates.list(request=chosen)] == ["b"]
    with pytest.raises(exceptions.BadRequest, match="range"):
        list(templates.list(request=compute_v1.ListInstanceTemplatesRequest(project=PROJECT, max_results=501)))


def test_regional_templates_have_their_own_scope(templates, cloud):
    regional = _client(compute_v1.RegionInstanceTemplatesClient, cloud)
    template = compute_v1.InstanceTemplate(name="web", properties=_properties())
    regional.insert(project=PROJECT, region="us-east1", instance_template_resource=template).result()
    found = regional.get(project=PROJECT, region="us-east1", instance_template="web")
    scopes = {name: scope.instance_templates for name, scope in templates.aggregated_list(project=PROJECT)}

    assert found.region.endswith("/regions/us-east1")
    assert [item.name for item in scopes["regions/us-east1"]] == ["web"]
    assert not scopes["global"]
    regional.delete(project=PROJECT, region="us-east1", instance_template="web").result()
    with pytest.raises(exceptions.NotFound):
        regional.insert(project=PROJECT, region="nowhere", instance_template_resource=template)


def test_a_template_is_made_from_an_instance(templates, cloud):
    instances = _client(compute_v1.InstancesClient, cloud)
    boot = compute_v1.AttachedDisk(
        boot=True, device_name="boot", initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE)
    )
    data = compute_v1.AttachedDisk(
        device_name="data", initialize_params=compute_v1.AttachedDiskInitializeParams(disk_size_gb=50)
    )
    vm = compute_v1.Instance(
        name="vm", machine_type="zones/us-east1-b/machineTypes/e2-medium", disks=[boot, data], network_interfaces=[{}]
    )
    instances.insert(project=PROJECT, zone="us-east1-b", instance_resource=vm).result()
    assert instances.get(project=PROJECT, zone="us-east1-b", instance="vm").status == "RUNNING"
    template = compute_v1.InstanceTemplate(
        name="from-vm", source_instance="zones/us-east1-b/instances/vm",
        source_instance_params={"disk_configs": [{"device_name": "data", "instantiate_from": "DO_NOT_INCLUDE"}]},
    )  # fmt: skip
    templates.insert(project=PROJECT, instance_template_resource=template).result()
    found = templates.get(project=PROJECT, instance_template="from-vm")

    assert found.properties.machine_type == "e2-medium"
    assert [disk.device_name for disk in found.properties.disks] == ["boot"]
    assert [item.name for item in instances.list(project=PROJECT, zone="us-east1-b")] == ["vm"]
    instances.delete(project=PROJECT, zone="us-east1-b", instance="vm").result()


def test_operations_are_read_waited_for_and_listed(templates, cloud):
    cloud.emulator.operations.latency = 100.0
    operations = _client(compute_v1.GlobalOperationsClient, cloud)
    name = _insert(templates, "web").name
    early = operations.get(project=PROJECT, operation=name)
    done = operations.wait(project=PROJECT, operation=name)

    assert early.status in {compute_v1.Operation.Status.PENDING, compute_v1.Operation.Status.RUNNING}
    assert (done.status, done.progress) == (compute_v1.Operation.Status.DONE, 100)
    assert name in [item.name for item in operations.list(project=PROJECT)]


@pytest.mark.parametrize(
    ("client", "arguments", "name"),
    [
        (compute_v1.RegionsClient, {}, "us-east1"),
        (compute_v1.ZonesClient, {}, "us-east1-b"),
        (compute_v1.MachineTypesClient, {"zone": "us-east1-b"}, "e2-small"),
        (compute_v1.DiskTypesClient, {"zone": "us-east1-b"}, "pd-ssd"),
        (compute_v1.NetworksClient, {}, "default"),
        (compute_v1.SubnetworksClient, {"region": "us-east1"}, "default"),
    ],
)
def test_what_every_project_has(cloud, client, arguments, name):
    found = _client(client, cloud)
    singular = client.__name__.removesuffix("sClient")
    parameter = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in singular).lstrip("_")

    assert name in [item.name for item in found.list(project=PROJECT, **arguments)]
    assert found.get(project=PROJECT, **arguments, **{parameter: name}).name == name
    with pytest.raises(exceptions.NotFound):
        found.get(project=PROJECT, **arguments, **{parameter: "missing"})


def test_public_images_and_the_project(cloud):
    images = _client(compute_v1.ImagesClient, cloud)
    newest = images.get_from_family(project="debian-cloud", family="debian-12")

    assert images.get(project="debian-cloud", image=newest.name).family == "debian-12"
    assert newest.name in [item.name for item in images.list(project="debian-cloud")]
    assert _client(compute_v1.ProjectsClient, cloud).get(project=PROJECT).name == PROJECT


def _storage(cloud):
    return storage.Client(
        PROJECT, AnonymousCredentials(), client_options=ClientOptions(api_endpoint=f"http://{cloud.host}")
    )


def test_buckets_and_notifications(cloud):
    client = _storage(cloud)
    bucket = client.create_bucket("another-bucket", location="europe-west1")
    made = bucket.notification(
        "uploads",
        topic_project=PROJECT,
        event_types=["OBJECT_FINALIZE"],
        custom_attributes={"a": "b"},
        payload_format="NONE",
    )
    made.create()

    assert "another-bucket" in [found.name for found in client.list_buckets()]
    assert bucket.get_notification(made.notification_id).custom_attributes == {"a": "b"}
    assert [found.notification_id for found in bucket.list_notifications()] == [made.notification_id]
    assert client.get_service_account_email().endswith("gs-project-accounts.iam.gserviceaccount.com")
    made.delete()
    assert not made.exists()
    bucket.delete()
    assert not bucket.exists()


def test_storage_errors(cloud):
    client = _storage(cloud)
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(BUCKET)
    with pytest.raises(exceptions.NotFound):
        client.get_bucket("missing-bucket")
    with pytest.raises(exceptions.BadRequest, match="event type"):
        client.bucket(BUCKET).notification("uploads", topic_project=PROJECT, event_types=["NOTHING"]).create()


def test_login_keys(cloud):
    transport = OsLoginServiceRestTransport(host=cloud.host, url_scheme="http", credentials=AnonymousCredentials())
    client = oslogin_v1.OsLoginServiceClient(transport=transport)
    name = f"users/{USER}/sshPublicKeys/{FINGERPRINT}"
    key = SshPublicKey(key=f"ssh-ed25519 {BLOB} laptop")
    made = client.create_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key)

    assert (made.fingerprint, made.name) == (FINGERPRINT, name)
    with pytest.raises(exceptions.Conflict):
        client.create_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key)
    changed = client.update_ssh_public_key(
        name=name,
        ssh_public_key=SshPublicKey(expiration_time_usec=1924991999000000),
        update_mask=field_mask_pb2.FieldMask(paths=["expiration_time_usec"]),
    )
    assert client.get_ssh_public_key(name=name).expiration_time_usec == changed.expiration_time_usec == 1924991999000000
    profile = client.import_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key, project_id=PROJECT).login_profile
    assert list(profile.ssh_public_keys) == [FINGERPRINT]
    assert client.get_login_profile(name=f"users/{USER}").posix_accounts[0].primary
    client.delete_ssh_public_key(name=name)
    with pytest.raises(exceptions.NotFound):
        client.get_ssh_public_key(name=name)


ZONE = "us-east1-b"


def _vm(cloud, name="vm"):
    instances = _client(compute_v1.InstancesClient, cloud)
    disk = compute_v1.AttachedDisk(
        boot=True, auto_delete=True, initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE)
    )
    vm = compute_v1.Instance(name=name, machine_type=f"zones/{ZONE}/machineTypes/e2-medium", disks=[disk])
    instances.insert(project=PROJECT, zone=ZONE, instance_resource=vm).result()
    return instances


def test_disks_are_made_attached_detached_and_deleted(cloud):
    disks, instances = _client(compute_v1.DisksClient, cloud), _vm(cloud)
    disks.insert(project=PROJECT, zone=ZONE, disk_resource=compute_v1.Disk(name="data", size_gb=50)).result()
    attached = compute_v1.AttachedDisk(source=f"zones/{ZONE}/disks/data", device_name="data")
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    instances.attach_disk(**where, attached_disk_resource=attached).result()
    found = instances.get(**where).disks[1]

    assert (found.device_name, found.index, found.disk_size_gb) == ("data", 1, 50)
    assert disks.get(project=PROJECT, zone=ZONE, disk="data").users[0].endswith("/instances/vm")
    with pytest.raises(exceptions.BadRequest, match="already being used"):
        disks.delete(project=PROJECT, zone=ZONE, disk="data")
    with pytest.raises(exceptions.BadRequest, match="already attached"):
        instances.attach_disk(
            **where, attached_disk_resource=compute_v1.AttachedDisk(source=f"zones/{ZONE}/disks/data")
        )
    forced = compute_v1.AttachDiskInstanceRequest(**where, force_attach=True, attached_disk_resource=attached)
    with pytest.raises(exceptions.BadRequest, match=r"Only regional disks|already used"):
        instances.attach_disk(request=forced)
    instances.set_disk_auto_delete(**where, auto_delete=True, device_name="data").result()
    assert instances.get(**where).disks[1].auto_delete
    instances.detach_disk(**where, device_name="data").result()
    with pytest.raises(exceptions.BadRequest, match="No attached disk"):
        instances.detach_disk(**where, device_name="data")
    assert [item.name for item in disks.list(project=PROJECT, zone=ZONE)] == ["data", "vm"]
    disks.delete(project=PROJECT, zone=ZONE, disk="data").result()
    instances.delete(**where).result()
    assert list(disks.list(project=PROJECT, zone=ZONE)) == [], "the boot disk went with its instance"


def test_regional_disks_need_two_zones(cloud):
    disks = _client(compute_v1.RegionDisksClient, cloud)
    zones = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bc"]
    disks.insert(
        project=PROJECT, region="us-east1", disk_resource=compute_v1.Disk(name="d", replica_zones=zones)
    ).result()

    assert disks.get(project=PROJECT, region="us-east1", disk="d").size_gb == 500
    with pytest.raises(exceptions.BadRequest, match="two replica zones"):
        disks.insert(
            project=PROJECT, region="us-east1", disk_resource=compute_v1.Disk(name="e", replica_zones=zones[:1])
        )
    disks.delete(project=PROJECT, region="us-east1", disk="d").result()


def test_labels_tags_and_metadata_change_under_their_fingerprints(cloud):
    instances = _vm(cloud)
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    vm = instances.get(**where)
    labels = compute_v1.InstancesSetLabelsRequest(labels={"a": "b"}, label_fingerprint=vm.label_fingerprint)
    instances.set_labels(**where, instances_set_labels_request_resource=labels).result()
    tags = compute_v1.Tags(items=["web"], fingerprint=vm.tags.fingerprint)
    instances.set_tags(**where, tags_resource=tags).result()
    metadata = compute_v1.Metadata(items=[compute_v1.Items(key="k", value="v")], fingerprint=vm.metadata.fingerprint)
    instances.set_metadata(**where, metadata_resource=metadata).result()
    found = instances.get(**where)

    assert (dict(found.labels), list(found.tags.items), found.metadata.items[0].value) == ({"a": "b"}, ["web"], "v")
    for change in (
        lambda: instances.set_labels(**where, instances_set_labels_request_resource=labels),
        lambda: instances.set_tags(**where, tags_resource=tags),
        lambda: instances.set_metadata(**where, metadata_resource=metadata),
    ):
        with pytest.raises(exceptions.PreconditionFailed, match="fingerprint"):
            change()


def test_a_network_interface_changes_under_its_fingerprint(cloud):
    instances = _vm(cloud)
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}

    def update(name="nic0", **fields):
        change = compute_v1.NetworkInterface(**fields)
        instances.update_network_interface(**where, network_interface=name, network_interface_resource=change).result(
            timeout=10
        )
        return instances.get(**where).network_interfaces[0]

    made = instances.get(**where).network_interfaces[0]
    ranges = [compute_v1.AliasIpRange(ip_cidr_range="10.1.2.0/24")]
    with pytest.raises(exceptions.BadRequest, match=r"'resource\.fingerprint'"):
        update(alias_ip_ranges=ranges)
    changed = update(alias_ip_ranges=ranges, fingerprint=made.fingerprint)
    with pytest.raises(exceptions.PreconditionFailed, match="fingerprint"):
        update(alias_ip_ranges=[], fingerprint=made.fingerprint)
    subnetwork = "regions/us-east1/subnetworks/default"
    moved = update(subnetwork=subnetwork, stack_type="IPV4_IPV6", fingerprint=changed.fingerprint)

    assert (changed.alias_ip_ranges[0].ip_cidr_range, changed.network_i_p) == ("10.1.2.0/24", made.network_i_p)
    assert (moved.subnetwork.endswith(subnetwork), moved.stack_type, moved.name) == (True, "IPV4_IPV6", "nic0")
    assert moved.alias_ip_ranges == changed.alias_ip_ranges, "what an update leaves out stays"
    assert len({made.fingerprint, changed.fingerprint, moved.fingerprint}) == 3
    with pytest.raises(exceptions.BadRequest, match="no such network interface"):
        update(name="nic1", fingerprint=moved.fingerprint)
    with pytest.raises(exceptions.BadRequest, match=r"'resource\.nicType'"):
        update(nic_type="GVNIC", fingerprint=moved.fingerprint)
    with pytest.raises(exceptions.BadRequest, match=r"aliasIpRanges\[0\]\.ipCidrRange"):
        update(alias_ip_ranges=[compute_v1.AliasIpRange(ip_cidr_range="/129")], fingerprint=moved.fingerprint)


def test_a_fingerprint_that_is_sent_with_a_new_interface_does_not_count(cloud):
    instances = _client(compute_v1.InstancesClient, cloud)
    nic = compute_v1.NetworkInterface(network="global/networks/default", fingerprint="AAAAAAAAAAA=")
    disk = compute_v1.AttachedDisk(
        boot=True, initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE)
    )
    vm = compute_v1.Instance(
        name="vm", machine_type=f"zones/{ZONE}/machineTypes/e2-medium", disks=[disk], network_interfaces=[nic]
    )
    instances.insert(project=PROJECT, zone=ZONE, instance_resource=vm).result(timeout=10)
    found = instances.get(project=PROJECT, zone=ZONE, instance="vm").network_interfaces[0]

    assert found.fingerprint not in {"", nic.fingerprint}


def test_a_change_waits_for_the_one_before_it(cloud):
    instances = _vm(cloud)
    cloud.hold_operations()
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    tags = compute_v1.Tags(items=["web"], fingerprint=instances.get(**where).tags.fingerprint)
    first = instances.set_tags(**where, tags_resource=tags)
    with pytest.raises(exceptions.BadRequest, match="is not ready"):
        instances.delete(**where)
    cloud.clock.advance(HOUR)
    first.result()
    instances.delete(**where)
    assert instances.get(**where).status == "STOPPING"


def _image_request(image):
    return compute_v1.InsertMachineImageRequest(
        project=PROJECT, source_instance=image.source_instance, machine_image_resource=image
    )


def test_machine_images(cloud):
    _vm(cloud)
    images = _client(compute_v1.MachineImagesClient, cloud)
    image = compute_v1.MachineImage(name="golden", source_instance=f"zones/{ZONE}/instances/vm")
    images.insert(request=_image_request(image)).result()
    found = images.get(project=PROJECT, machine_image="golden")

    assert (found.status, len(found.saved_disks)) == ("READY", 1)
    assert found.instance_properties.machine_type == "e2-medium"
    labels = compute_v1.GlobalSetLabelsRequest(labels={"a": "b"}, label_fingerprint=found.label_fingerprint)
    images.set_labels(project=PROJECT, resource="golden", global_set_labels_request_resource=labels).result()
    assert dict(next(iter(images.list(project=PROJECT))).labels) == {"a": "b"}
    images.delete(project=PROJECT, machine_image="golden").result()
    missing = compute_v1.MachineImage(name="none", source_instance=f"zones/{ZONE}/instances/none")
    with pytest.raises(exceptions.NotFound):
        images.insert(request=_image_request(missing))


def _bulk(cloud, **more):
    resource = compute_v1.BulkInsertInstanceResource(instance_properties=_properties(labels={"a": "b"}), **more)
    regional = _client(compute_v1.RegionInstancesClient, cloud)
    return regional.bulk_insert(project=PROJECT, region="us-east1", bulk_insert_instance_resource_resource=resource)


def test_instances_are_made_in_bulk_and_listed_over_all_zones(cloud):
    _bulk(cloud, count=4, name_pattern="w-###", location_policy={"target_shape": "BALANCED"}).result()
    _bulk(cloud, count=2, name_pattern="w-###").result()
    instances = _client(compute_v1.InstancesClient, cloud)
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT, filter='labels.a = "b"', max_results=2)
    found = [item.name for _, scope in instances.aggregated_list(request=request) for item in scope.instances]

    assert sorted(found) == [f"w-00{number}" for number in range(1, 7)]


def test_a_bulk_creation_that_falls_short_is_rolled_back(cloud):
    cloud.emulator.store.put("limits/all", {"instances": {"us-east1": 3}})
    operation = _bulk(cloud, count=5, min_count=4, name_pattern="w-#")
    with pytest.raises(exceptions.GoogleAPICallError, match="Quota 'INSTANCES' exceeded"):
        operation.result()
    operations = _client(compute_v1.RegionOperationsClient, cloud)
    done = operations.get(project=PROJECT, region="us-east1", operation=operation.name)
    status = done.instances_bulk_insert_operation_metadata.per_location_status["zones/us-east1-b"]

    assert (status.status, status.target_vm_count, status.deleted_vm_count) == ("ROLLING_BACK", 5, 3)
    assert done.error.errors[0].error_details[0].quota_info.limit == 3.0
    assert "instances" not in cloud.emulator.store.counts()
    _bulk(cloud, count=5, min_count=2, name_pattern="w-#").result()
    assert cloud.emulator.store.counts()["instances"] == 3


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"count": 1}, "namePattern"),
        ({"name_pattern": "a-#"}, "'resource.count'"),
        ({"count": 1, "name_pattern": "a-#-#"}, "one run"),
        ({"count": 10, "name_pattern": "a-#"}, "too few #"),
        ({"count": 1, "min_count": 2, "name_pattern": "a-#"}, "minCount"),
        (
            {"count": 1, "name_pattern": "a-#", "location_policy": {"locations": {"zones/nowhere": {}}}},
            "Not a zone of the region",
        ),
    ],
)
def test_what_cannot_be_made_in_bulk_is_refused(cloud, more, words):
    with pytest.raises(exceptions.BadRequest, match=words):
        _bulk(cloud, **more)


def test_a_zone_takes_instances_in_bulk_too(cloud):
    resource = compute_v1.BulkInsertInstanceResource(instance_properties=_properties(), count=2, name_pattern="z-##")
    instances = _client(compute_v1.InstancesClient, cloud)
    instances.bulk_insert(project=PROJECT, zone=ZONE, bulk_insert_instance_resource_resource=resource).result()

    assert [item.name for item in instances.list(project=PROJECT, zone=ZONE)] == ["z-01", "z-02"]


def test_limits_are_set_over_http(cloud):
    url = f"http://{cloud.host}/_emulator/limits"
    httpx.post(url, json={"zones": {"us-east1-b": 1}}, trust_env=False, timeout=HANGS)

    assert httpx.get(url, trust_env=False, timeout=HANGS).json() == {"zones": {"us-east1-b": 1}}
