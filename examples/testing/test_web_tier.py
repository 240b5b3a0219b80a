"""Tests of the component, without an account, credentials or network: run `pytest`.

`gcpx_emulator` and `gcpx_workspace` are fixtures of gcpx-emulator's plugin for pytest. docs/testing.md of gcpx says how
to install it. One test also needs `google-cloud-compute`.
"""

from typing import Any

import pytest
from google.cloud import compute_v1
from pulumi import automation
from web_tier import WebTier

from gcpx_emulator.testing import RunningEmulator

BULK_INSERT = "compute.regionInstances.bulkInsert"
STOCK_OUT = {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "us-east1 has no e2-small left"}]}


def program() -> None:
    WebTier("web", size=3, bucket="demo-uploads")


@pytest.fixture
def stack(gcpx_emulator: RunningEmulator, gcpx_workspace: automation.LocalWorkspaceOptions) -> automation.Stack:
    """A stack of the program. The bucket and the topic that it refers to exist."""
    gcpx_emulator.seed.bucket("demo-uploads")
    gcpx_emulator.seed.topic("uploads")
    return automation.create_stack("test", project_name="testing", program=program, opts=gcpx_workspace)


def test_the_servers_and_the_notification_are_created(stack: automation.Stack, gcpx_emulator: RunningEmulator) -> None:
    stack.up()

    # Google's types leave out too much for strict checks.
    client: Any = gcpx_emulator.client(compute_v1.InstancesClient)
    zones = client.aggregated_list(project=gcpx_emulator.project)
    servers = [server for _, found in zones for server in found.instances]
    assert sorted(server.name for server in servers) == ["web-01", "web-02", "web-03"]
    assert {server.labels["tier"] for server in servers} == {"web"}
    assert len(gcpx_emulator.resources("instanceTemplates")) == 1
    (notification,) = gcpx_emulator.resources("notificationConfigs").values()
    assert notification["event_types"] == ["OBJECT_FINALIZE"]


def test_a_stock_out_is_named_and_leaves_no_servers(stack: automation.Stack, gcpx_emulator: RunningEmulator) -> None:
    with gcpx_emulator.fault(BULK_INSERT, operation=STOCK_OUT), pytest.raises(automation.CommandError) as failed:
        stack.up()

    assert "no e2-small left" in str(failed.value)
    assert gcpx_emulator.resources("instances") == {}
