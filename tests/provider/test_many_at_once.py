"""Many calls at once in a process that has just started: one client, one object for each resource, one queue."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import driver
import grpc
import pytest
from programs import ATTACHMENT, PROJECT, TEMPLATE
from workspace import SCRIPTS

from gcpx.provider import FUNCTIONS, RESOURCES, Provider

THREADS = 16


def _at_once(count, work):
    """Do something in many threads that all begin at the same moment; gives what each came to."""
    barrier = threading.Barrier(count)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@contextmanager
def _process():
    """Start the plugin as the engine does, with nothing loaded yet; gives what to call it by."""
    command = [str(SCRIPTS / "pulumi-resource-gcpx"), "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                yield driver.proto.provider_grpc.ResourceProviderStub(channel)
        finally:
            process.kill()


@pytest.mark.parametrize("token", RESOURCES)
def test_a_resource_is_one_object_whoever_asks_first(token):
    for _ in range(20):
        provider = Provider()
        provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
        found = _at_once(THREADS, lambda _, provider=provider: provider.resource(token))

        assert len({id(resource) for resource in found}) == 1
        provider.close()


@pytest.mark.parametrize("token", FUNCTIONS)
def test_a_function_is_one_object_whoever_asks_first(token):
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})

    assert len({id(function) for function in _at_once(THREADS, lambda _: provider.function(token))}) == 1
    provider.close()


def test_resources_of_one_configuration_share_one_client():
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    tokens = [*RESOURCES] * 3
    resources = _at_once(len(tokens), lambda number: vars(provider.resource(tokens[number])))

    assert len({id(resource["_google"]) for resource in resources}) == 1
    assert len({id(resource["_lookups"]) for resource in resources}) == 1
    provider.close()


def test_another_configuration_has_another_client():
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    first = provider.resource(TEMPLATE)
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    assert provider.resource(TEMPLATE) is first, "the same configuration again changes nothing"
    provider.configure({"project": "another", "emulatorHost": "127.0.0.1:1"})

    assert provider.resource(TEMPLATE) is not first
    provider.close()


def test_a_fresh_plugin_detaches_six_disks_of_one_instance_in_six_calls(engine, cloud, vm):
    made = []
    for number in range(6):
        disk = cloud.make_disk(f"disk-{number}")
        made.append(engine.create(ATTACHMENT, f"a{number}", {"instance": vm, "disk": disk, "deviceName": f"d{number}"}))
    cloud.emulator.operations.latency = 0.05
    cloud.emulator.requests.kept.clear()
    with _process() as stub:
        fresh = driver.Engine(stub, engine.log)
        fresh.configure(project=PROJECT, emulatorHost=cloud.host)
        _at_once(6, lambda number: fresh.delete(made[number]))
    sent = cloud.requests("compute.instances.detachDisk")

    assert [entry["status"] for entry in sent] == [200] * 6
    assert [disk["deviceName"] for disk in cloud.get(vm)["disks"]] == ["boot"]
