"""Right programs that write inputs as objects of classes, or of both forms, with outputs in every position."""

import pulumi_gcpx as gcpx

import pulumi

text = pulumi.Output.from_input("text")
number = pulumi.Output.from_input(3)
truth = pulumi.Output.from_input(True)
texts = pulumi.Output.from_input(["text"])
network = gcpx.compute.NetworkInterfaceArgs(network="global/networks/default")

properties = gcpx.compute.InstancePropertiesArgs(
    machine_type=text,
    labels={"team": text},
    tags=gcpx.compute.TagsArgs(items=texts),
    disks=[
        gcpx.compute.AttachedDiskArgs(
            boot=truth,
            disk_size_gb=number,
            initialize_params=gcpx.compute.AttachedDiskInitializeParamsArgs(source_image=text),
        ),
        text.apply(lambda name: gcpx.compute.AttachedDiskArgs(device_name=name)),
    ],
    network_interfaces=texts.apply(lambda names: [gcpx.compute.NetworkInterfaceArgs(network=name) for name in names]),
)
gcpx.compute.InstanceTemplate("objects", properties=properties)
gcpx.compute.InstanceTemplate("output", properties=pulumi.Output.from_input(properties))
gcpx.compute.InstanceTemplate(
    "set-of-arguments",
    gcpx.compute.InstanceTemplateArgs(properties=properties, name=text),
    pulumi.ResourceOptions(protect=True),
)
gcpx.oslogin.SshKey("laptop", args=gcpx.oslogin.SshKeyArgs(user=text, key="ssh-ed25519 AAAA"))

gcpx.compute.InstanceTemplate(
    "objects-in-dicts", properties={"disks": [{"boot": True}], "network_interfaces": [network]}
)
gcpx.compute.InstanceTemplate(
    "dicts-in-objects",
    properties=gcpx.compute.InstancePropertiesArgs(
        tags={"items": [text]}, disks=[{"boot": True}, gcpx.compute.AttachedDiskArgs(boot=truth)]
    ),
)
gcpx.compute.InstanceTemplate("dict-in-arguments", gcpx.compute.InstanceTemplateArgs(properties={"machine_type": text}))
gcpx.compute.BulkInstances(
    "fleet",
    name_pattern="web-#",
    count=number,
    instance_properties=properties,
    fallbacks=[gcpx.compute.FallbackArgs(zones=[text]), {"zones": texts}],
    per_instance_properties={
        "web-a": gcpx.compute.PerInstancePropertiesArgs(hostname=text),
        "web-b": {"hostname": text},
    },
    update_policy=gcpx.compute.UpdatePolicyArgs(max_surge=text, ready={"within": number}),
)
