"""Right programs that write inputs as dicts, with outputs in every position."""

import pulumi_gcpx as gcpx

import pulumi

config = pulumi.Config()
text = pulumi.Output.from_input("text")
number = pulumi.Output.from_input(3)
truth = pulumi.Output.secret(True)
maybe = pulumi.Output.from_input(config.get("text"))
texts = pulumi.Output.from_input(["text"])

gcpx.compute.InstanceTemplate(
    "values",
    description=config.get("description"),
    properties={
        "machine_type": "e2-small",
        "can_ip_forward": False,
        "labels": {"team": "web"},
        "disks": [{"boot": True, "disk_size_gb": 20, "initialize_params": {"labels": {"team": "web"}}}],
        "reservation_affinity": {"consume_reservation_type": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]},
        "partner_metadata": {"partner": {"entries": {"mode": "fast", "levels": [1, {"deep": None}]}}},
        "min_cpu_platform": None,
    },
)
gcpx.compute.InstanceTemplate(
    "outputs",
    opts=pulumi.ResourceOptions(protect=True),
    name=maybe,
    description=text,
    properties={
        "machine_type": text,
        "can_ip_forward": truth,
        "labels": {"team": text, "plain": "text"},
        "tags": {"items": [text, "text"]},
        "disks": [{"boot": truth, "disk_size_gb": number, "initialize_params": {"source_image": text}}],
        "service_accounts": [{"email": text, "scopes": texts}],
        "metadata": {"items": [{"key": "release", "value": maybe}]},
    },
)

tags: gcpx.compute.TagsArgsDict = {"items": ["web"]}
disk: gcpx.compute.AttachedDiskArgsDict = {"boot": True}
gcpx.compute.InstanceTemplate(
    "outputs-of-dicts",
    properties={"tags": pulumi.Output.from_input(tags), "disks": [pulumi.Output.from_input(disk), disk]},
)


def named(name: str) -> gcpx.compute.InstancePropertiesArgsDict:
    return {"machine_type": name}


template = gcpx.compute.InstanceTemplate("function", properties=text.apply(named))

gcpx.compute.BulkInstances(
    "fleet",
    source_instance_template=template.self_link,
    count=number,
    location_policy={"zones": [{"zone": text}]},
    fallbacks=[{"zones": texts}, {"zones": [text], "provisioning_model": "STANDARD"}],
    per_instance_properties={"web-a": {"hostname": text}, "web-b": {}},
    update_policy={"max_surge": number, "max_unavailable": "20%", "pause_after": maybe},
)
gcpx.compute.MachineImage("image", source_instance=text, labels={"team": text}, storage_locations=texts)
gcpx.compute.DiskAttachment("data", instance=text, disk=text, guest_os_features=[{"type": text}])
gcpx.storage.NotificationConfig("uploads", bucket=text, topic=text, custom_attributes={"team": text})
gcpx.oslogin.SshKey("laptop", user=text, key=text, regions=[text])
provider = gcpx.Provider(
    "other", emulator_host=gcpx.config.emulator_host, project=text, region="us-east1", scopes=[text]
)

gcpx.compute.get_operation("operation-1", zone="us-east1-b")
gcpx.compute.get_operation_output(name=text, project=maybe)
gcpx.compute.list_regions_output(filter=text, item_fields=texts, opts=pulumi.InvokeOptions(provider=provider))
gcpx.pubsub.verify_push_token_output("https://example.com/push", service_account_email=text, token=text)
