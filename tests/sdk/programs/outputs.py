"""Required outputs are not optional."""

import pulumi

import pulumi_gcpx as gcpx

fleet = gcpx.compute.BulkInstances("f", count=1, name_pattern="f-#", instance_properties={"machine_type": "e2-micro"})
names: pulumi.Output[list[str]] = fleet.members.apply(lambda members: [member.name for member in members])
links: pulumi.Output[list[str]] = fleet.members.apply(lambda members: [member.self_link for member in members])
zones: pulumi.Output[set[str]] = fleet.members.apply(lambda members: {member.zone for member in members})
made: pulumi.Output[int] = fleet.member_count
template = gcpx.compute.InstanceTemplate("t", properties={"machine_type": "e2-micro"})
image = gcpx.compute.MachineImage("i", source_instance="zones/z/instances/i")
attachment = gcpx.compute.DiskAttachment("a", instance="zones/z/instances/i", disk="d")
notification = gcpx.storage.NotificationConfig("n", bucket="b", topic="t")
key = gcpx.oslogin.SshKey("k", user="u@example.com", key="ssh-ed25519 AAAA")
texts: list[pulumi.Output[str]] = [
    fleet.fleet_id,
    fleet.project,
    fleet.region,
    template.name,
    template.project,
    template.self_link,
    template.self_link_unique,
    template.numeric_id,
    image.name,
    image.project,
    image.self_link,
    image.numeric_id,
    image.status,
    attachment.disk,
    attachment.device_name,
    attachment.instance,
    attachment.project,
    attachment.zone,
    notification.bucket,
    notification.topic,
    notification.self_link,
    notification.notification_id,
    notification.etag,
    key.name,
    key.fingerprint,
    key.user,
]
machines: pulumi.Output[object] = template.properties.apply(lambda properties: properties.machine_type)
regions: list[str] = [region.name for region in gcpx.compute.list_regions().items]
later: pulumi.Output[list[str]] = gcpx.compute.list_regions_output().items.apply(
    lambda items: [item.self_link for item in items]
)
instances: list[str] = [
    instance.name for scope in gcpx.compute.aggregated_list_instances().items.values() for instance in scope.instances
]
unreachable: list[str] = list(gcpx.compute.aggregated_list_instances().unreachables)
templates: list[str] = [item.name for item in gcpx.compute.list_instance_templates().items]
everywhere: list[str] = [
    item.self_link
    for scope in gcpx.compute.aggregated_list_instance_templates().items.values()
    for item in scope.instance_templates
]
status: str = gcpx.compute.get_operation(name="o").status
audience: str = gcpx.oauth2.get_token_info(id_token="t").aud
valid: bool = gcpx.pubsub.verify_push_token(token="t", audience="a", service_account_email="s").valid
