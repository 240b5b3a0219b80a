"""The plugin calls each mutating endpoint of the documentation with the right method, path and query."""

from __future__ import annotations

import re

from values.programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    VM,
    ZONE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)  # fmt: skip

REQUEST_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _only_request(cloud, method):
    (entry,) = cloud.requests(method)
    query = dict(entry["query"])
    request_id = query.pop("requestId", "")
    if method.startswith("compute"):
        assert REQUEST_ID.fullmatch(request_id)
        assert set(request_id) != set("0-")
    return f"{entry['httpMethod']} {entry['path']}", query, entry["body"]


def test_a_fleet_is_inserted_in_its_region(engine, cloud):
    engine.create(FLEET, "f", fleet(2))
    call, query, body = _only_request(cloud, "compute.regionInstances.bulkInsert")

    assert call == f"POST /compute/beta/projects/{PROJECT}/regions/us-east1/instances/bulkInsert"
    assert (query, body["count"], body["minCount"]) == ({}, "2", "2")


def test_a_regional_template_is_inserted_on_v1(engine, cloud):
    engine.create(TEMPLATE, "t", {**template(), "region": "us-east1"})
    call, query, body = _only_request(cloud, "compute.regionInstanceTemplates.insert")

    assert call == f"POST /compute/v1/projects/{PROJECT}/regions/us-east1/instanceTemplates"
    assert (query, set(body)) == ({}, {"name", "properties"})


def test_a_machine_image_names_its_source_in_query_and_body(engine, cloud, vm):
    engine.create(IMAGE, "i", image(sourceInstance=VM))
    call, query, body = _only_request(cloud, "compute.machineImages.insert")

    assert call == f"POST /compute/beta/projects/{PROJECT}/global/machineImages"
    assert (query, body["sourceInstance"]) == ({"sourceInstance": VM}, VM)


def test_a_disk_is_force_attached_on_beta(engine, cloud, vm):
    cloud.make_regional_disk()
    disk = f"projects/{PROJECT}/regions/us-east1/disks/shared"
    engine.create(ATTACHMENT, "a", attachment(disk=disk, forceAttach=True))
    call, query, body = _only_request(cloud, "compute.instances.attachDisk")

    assert call == f"POST /compute/beta/projects/{PROJECT}/zones/{ZONE}/instances/example-vm/attachDisk"
    assert (query, body["source"]) == ({"forceAttach": "true"}, disk)


def test_a_notification_is_deleted_by_number(engine, cloud):
    made = engine.create(NOTIFICATION, "n", notification())
    engine.delete(made)
    call, query, body = _only_request(cloud, "storage.notifications.delete")

    assert call == f"DELETE /storage/v1/b/{BUCKET}/notificationConfigs/{made.outputs['notificationId']}"
    assert (query, body) == ({}, None)


def test_an_ssh_key_is_created_on_v1alpha(engine, cloud):
    engine.create(KEY, "k", key())
    call, query, body = _only_request(cloud, "oslogin.users.sshPublicKeys.create")

    assert call == f"POST /v1alpha/users/{USER}/sshPublicKeys"
    assert (query, body) == ({}, {"key": key()["key"]})
