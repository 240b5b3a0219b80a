"""A plugin that is told to end while the server holds a request ends at once, quietly, and reports what exists."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import grpc
import pytest
from engines import driver
from engines.clock import HANGS
from engines.driver import failing
from servers.tokens import AUDIENCE, EMAIL, issue_token
from values.programs import PROJECT, TEMPLATE, template
from workspace import SCRIPTS

WEB = {"name": "web", **template()}


@pytest.mark.parametrize(
    ("number", "request_"),
    # Requests are the insertion, the wait for its operation, and the read.
    [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGTERM, 3)],
)
def test_a_signal_ends_the_plugin_without_waiting_for_the_server(cloud, number, request_):
    cloud.interceptor.hold(request_, "after the work")
    environment = {**os.environ, "GCPX_EMULATOR_HOST": cloud.host, "GOOGLE_PROJECT": PROJECT}
    command = [str(SCRIPTS / "pulumi-resource-gcpx")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as plugin:
        with grpc.insecure_channel(f"127.0.0.1:{int(plugin.stdout.readline())}") as channel, failing() as failed:
            stub = driver.proto.provider_grpc.ResourceProviderStub(channel)
            urn = f"urn:pulumi:dev::test::{TEMPLATE}::web"
            request = driver.rpc.CreateRequest(urn=urn, properties=driver.struct(WEB), name="web", type=TEMPLATE)
            creation = stub.Create.future(request, wait_for_ready=True)
            cloud.interceptor.wait_until_held()
            begun = time.monotonic()
            plugin.send_signal(number)
            creation.result()
        code, said = plugin.wait(HANGS), plugin.stderr.read()
        seconds = time.monotonic() - begun
        print(f"{number.name}, request {request_}: the plugin ended after {seconds:.2f} s")  # noqa: T201 - a figure
        cloud.interceptor.drain()

    assert code == 0
    assert said == ""
    assert failed[0].partial.id == f"projects/{PROJECT}/global/instanceTemplates/web"


def test_a_signal_ends_the_plugin_while_it_waits_for_certificates(cloud):
    token = issue_token(cloud)
    cloud.interceptor.hold()
    environment = {**os.environ, "GCPX_EMULATOR_HOST": cloud.host}
    command = [str(SCRIPTS / "pulumi-resource-gcpx")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as plugin:
        with grpc.insecure_channel(f"127.0.0.1:{int(plugin.stdout.readline())}") as channel, failing() as failed:
            arguments = driver.struct({"token": token, "audience": AUDIENCE, "serviceAccountEmail": EMAIL})
            request = driver.rpc.InvokeRequest(tok="gcpx:pubsub:verifyPushToken", args=arguments)
            verification = driver.proto.provider_grpc.ResourceProviderStub(channel).Invoke.future(
                request, wait_for_ready=True
            )
            cloud.interceptor.wait_until_held()
            plugin.send_signal(signal.SIGTERM)
            verification.result()
        code, said = plugin.wait(HANGS), plugin.stderr.read()  # while the server still holds its response
        cloud.interceptor.drain()

    assert (code, said) == (0, "")
    assert failed[0].code == grpc.StatusCode.CANCELLED
