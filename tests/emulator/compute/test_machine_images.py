"""Machine images."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from google_clients import connect, insert_instance
from programs import PROJECT, ZONE


def _image_request(image):
    return compute_v1.InsertMachineImageRequest(
        project=PROJECT, source_instance=image.source_instance, machine_image_resource=image
    )


def test_machine_images(cloud):
    insert_instance(cloud)
    images = connect(compute_v1.MachineImagesClient, cloud)
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
