"""The path of a request is made of segments: no name, ID or link leads to another URL than the one it stands in."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from values.programs import ATTACHMENT, IMAGE, KEY, NOTIFICATION, TEMPLATE, attachment, key

from gcpx.errors import UserError
from gcpx.gcp.request import COMPUTE, Request, segment

NO_SEGMENTS = ["", ".", ".."]
LEAVING = [
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "a%2F..%2Fb",
    "a/../b",
    "a#b",
    "a?b",
    "a b",
    "a\\b",
    "a//b",
    "%zz",
    "%",
    "a\nb",
    "ü",
]
"""What, put into a path as it is, leads elsewhere, or is no part of a URL."""


@pytest.mark.parametrize("text", NO_SEGMENTS)
def test_a_name_that_is_no_segment_is_refused(text):
    with pytest.raises(UserError, match="cannot be part of the path of a request"):
        segment(text)


@pytest.mark.parametrize("text", LEAVING)
def test_a_path_that_leads_elsewhere_is_refused(text):
    with pytest.raises(UserError, match="cannot be part of the path of a request"):
        Request(api=COMPUTE, method="GET", path=f"v1/projects/p/zones/{text}/instances/i")


@pytest.mark.parametrize(
    "text", ["a", "a.b", "...", "a..b", "example.com:p", "user@example.com", "a%2Fb", "%C3%BC", "1!$&'()*+,;=~"]
)
def test_every_other_name_is_a_segment(text):
    assert Request(api=COMPUTE, method="GET", path=f"v1/users/{text}").path == f"v1/users/{text}"
    assert "/" not in segment(text)


@pytest.mark.parametrize("text", ["a", "a-1", "123", "example.com:my-project", "_"])
def test_a_place_is_a_segment(text):
    assert Request(api=COMPUTE, method="GET", path=f"v1/projects/{text}/zones/{text}/x")


@pytest.mark.parametrize("text", ["a%2Fb", "a%41", "a%00b", "%C3%BC", "a;b", "a&b", "a@b", "a,b", "~"])
@pytest.mark.parametrize("place", ["projects", "regions", "zones"])
def test_a_place_with_other_characters_is_refused(place, text):
    with pytest.raises(UserError, match="cannot be part of the path of a request"):
        Request(api=COMPUTE, method="GET", path=f"v1/{place}/{text}/instances/i")


@pytest.mark.parametrize(
    "instance", ["..", ".", "projects/p/zones/z/instances/..", "projects/../zones/z/instances/i", "a%2e"]
)
def test_an_instance_that_is_no_name_fails_the_check(engine, instance):
    assert "instance" in engine.failures(ATTACHMENT, attachment(instance=instance))


@pytest.mark.parametrize("user", ["..", ".", "users/.."])
def test_a_user_that_is_no_name_fails_the_check(engine, user):
    assert "user" in engine.failures(KEY, key(user=user))


IMPORTS = [
    (ATTACHMENT, "projects/demo/zones/us-east1-b/instances/../data"),
    (ATTACHMENT, "projects/demo/zones/../instances/vm/data"),
    (ATTACHMENT, "projects/%2e%2e/zones/us-east1-b/instances/vm/data"),
    (ATTACHMENT, "vm:data"),
    (ATTACHMENT, "us-east1-b/vm:data"),
    (ATTACHMENT, "demo/us-east1-b/vm:data"),
    (ATTACHMENT, "projects/demo/zones/us-east1-b/instances/vm:data"),
    (TEMPLATE, "projects/demo/global/instanceTemplates/.."),
    (TEMPLATE, "projects/../global/instanceTemplates/web"),
    (TEMPLATE, "projects/demo/regions/../instanceTemplates/web"),
    (IMAGE, "projects/demo/global/machineImages/."),
    (TEMPLATE, "projects/a%2Fb/global/instanceTemplates/web"),
    (TEMPLATE, "projects/demo/regions/us%2Deast1/instanceTemplates/web"),
    (ATTACHMENT, "projects/demo/zones/us-east1-b;x/instances/vm/data"),
    (IMAGE, "projects/demo%00/global/machineImages/web"),
    (IMAGE, "projects/%2e%2e/global/machineImages/web"),
    (KEY, "users/../sshPublicKeys/0123"),
    (KEY, "users/user@example.com/sshPublicKeys/.."),
    (NOTIFICATION, "../notificationConfigs/1"),
    (NOTIFICATION, "bucket/notificationConfigs/.."),
]


@pytest.mark.parametrize(("token", "resource_id"), IMPORTS)
def test_an_import_of_what_is_no_name_is_refused_and_sends_nothing(engine, cloud, token, resource_id):
    with driver.failing() as failed:
        engine.import_(token, "r", resource_id)

    assert failed[0].code == grpc.StatusCode.INVALID_ARGUMENT, failed
    assert cloud.calls() == []


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "projects/demo/global/operations/..",
        "projects/../global/operations/o",
        "projects/demo/zones/%2e%2e/operations/o",
    ],
)
def test_an_operation_that_is_no_name_is_refused_and_nothing_is_sent(engine, cloud, name):
    with driver.failing() as failed:
        engine.invoke("gcpx:compute:getOperation", name=name)

    assert failed[0].code == grpc.StatusCode.INVALID_ARGUMENT, failed
    assert cloud.calls() == []


@pytest.mark.parametrize("name", ["a#b", "a?alt=media", "a%2e"])
def test_the_name_of_an_operation_is_escaped(engine, cloud, name):
    with cloud.interceptor.observed() as seen, driver.failing() as failed:
        engine.invoke("gcpx:compute:getOperation", name=name)

    assert failed[0].code in {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT}
    assert [request.rpartition("/")[2] for request in seen] in ([name], [])
