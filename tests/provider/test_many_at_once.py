"""Concurrent calls in a new process share one client, one object per resource and one queue per instance."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import attrs
import grpc
import pytest
from engines import driver
from values.programs import ATTACHMENT, KEY, PROJECT, TEMPLATE, key
from workspace import SCRIPTS

from gcpx.provider import FUNCTIONS, RESOURCES, Provider

THREADS = 16


def _run_concurrently(count, work):
    """Run a function in many threads that start at the same moment; return their results."""
    barrier = threading.Barrier(count)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@contextmanager
def _started_plugin():
    """Start the plugin as the engine does, with nothing loaded yet; yield a stub that calls it."""
    command = [str(SCRIPTS / "pulumi-resource-gcpx"), "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                yield driver.proto.provider_grpc.ResourceProviderStub(channel)
        finally:
            process.kill()


@pytest.mark.parametrize("token", RESOURCES)
def test_concurrent_calls_get_the_same_resource_object(token):
    for _ in range(20):
        provider = Provider()
        provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
        found = _run_concurrently(THREADS, lambda _, provider=provider: provider.resource(token))

        assert len({id(resource) for resource in found}) == 1
        provider.close()


@pytest.mark.parametrize("token", FUNCTIONS)
def test_concurrent_calls_get_the_same_function_object(token):
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})

    assert len({id(function) for function in _run_concurrently(THREADS, lambda _: provider.function(token))}) == 1
    provider.close()


def test_resources_of_one_configuration_share_one_client():
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    tokens = [*RESOURCES] * 3
    resources = _run_concurrently(len(tokens), lambda number: vars(provider.resource(tokens[number])))

    assert len({id(resource["_google"]) for resource in resources}) == 1
    assert len({id(resource["_lookups"]) for resource in resources}) == 1
    provider.close()


def test_a_changed_configuration_gets_a_new_client():
    provider = Provider()
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    first = provider.resource(TEMPLATE)
    provider.configure({"project": PROJECT, "emulatorHost": "127.0.0.1:1"})
    assert provider.resource(TEMPLATE) is first, "the same configuration again changes nothing"
    provider.configure({"project": "another", "emulatorHost": "127.0.0.1:1"})

    assert provider.resource(TEMPLATE) is not first
    provider.close()


@pytest.fixture
def many_switches():
    """Let threads take turns about every instruction."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("many_switches")
def test_what_is_created_while_other_resources_are_compared_reaches_the_state(engine):
    shown, made = engine.create(KEY, "shown", key()), []

    def work(thread):
        for number in range(60):
            name = f"{thread}-{number}"
            if thread % 2:
                engine.diff_checked(attrs.evolve(shown, urn=engine.urn(KEY, name), id=name), shown.inputs)
            else:
                engine.checked(KEY, name, key())  # as the engine does before a creation
            if number % 20 == 0:
                made.append(engine.create(KEY, name, key(user=f"{name}@example.com")))

    _run_concurrently(THREADS, work)

    assert len(made) == 3 * THREADS
    assert all(engine.refresh(one) == one for one in made)


def test_a_fresh_plugin_detaches_six_disks_of_one_instance_in_six_calls(engine, cloud, vm):
    made = []
    for number in range(6):
        disk = cloud.make_disk(f"disk-{number}")
        made.append(engine.create(ATTACHMENT, f"a{number}", {"instance": vm, "disk": disk, "deviceName": f"d{number}"}))
    cloud.emulator.operations.latency = 0.05
    cloud.emulator.requests.kept.clear()
    with _started_plugin() as stub:
        fresh = driver.Engine(stub, engine.log)
        fresh.configure(project=PROJECT, emulatorHost=cloud.host)
        _run_concurrently(6, lambda number: fresh.delete(made[number]))
    sent = cloud.requests("compute.instances.detachDisk")

    assert [entry["status"] for entry in sent] == [200] * 6
    assert [disk["deviceName"] for disk in cloud.get(vm)["disks"]] == ["boot"]
