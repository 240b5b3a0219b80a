"""The same templates with Google's own client, in a script: `google_client.py VERB HOST COUNT`."""

import sys

from google.cloud import compute_v1

from gcpx_emulator.testing.google_clients import connect

PROJECT = "demo-project"
verb, host, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
names = [f"script-{number}" for number in range(count)]
client = connect(compute_v1.InstanceTemplatesClient, host, PROJECT)


def template(name: str) -> compute_v1.InstanceTemplate:
    """Describe a template."""
    image = "projects/debian-cloud/global/images/family/debian-12"
    boot = compute_v1.AttachedDiskInitializeParams(source_image=image)
    return compute_v1.InstanceTemplate(
        name=name,
        properties=compute_v1.InstanceProperties(
            machine_type="e2-small",
            disks=[compute_v1.AttachedDisk(boot=True, initialize_params=boot)],
            network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")],
            labels={"number": name.rpartition("-")[2]},
        ),
    )


operations = []
if verb == "up":
    operations = [client.insert(project=PROJECT, instance_template_resource=template(name)) for name in names]
elif verb == "destroy":
    operations = [client.delete(project=PROJECT, instance_template=name) for name in names]
for operation in operations:
    operation.result()
if verb in {"up", "refresh"}:
    for name in names:
        client.get(project=PROJECT, instance_template=name)
