"""What the fixture gives to a test: seeds, resources, requests, faults, time, clients, and errors in one line."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1, storage
from google.pubsub_v1 import PublisherClient, PubsubMessage
from servers.receiving import endpoint
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from values.programs import BLOB, PROJECT, USER, ZONE

from gcpx_emulator.testing import EmulatorError, RunningEmulator, running

INSERT = "compute.instances.insert"


@pytest.fixture(scope="module")
def _server():
    with running(strict=True) as emulator:
        yield emulator


@pytest.fixture
def emulator(_server):
    _server.reset()
    return _server


def test_seeds_create_what_programs_refer_to(emulator):
    seed = emulator.seed
    paths = {
        "b": seed.bucket("uploads", location="EU"),
        "topics": seed.topic("uploads"),
        "disks": seed.disk("data"),
        "instanceTemplates": seed.template("web"),
        "subscriptions": seed.push_subscription("push", "uploads", "http://127.0.0.1:9/push"),
    }

    assert {kind: list(emulator.resources(kind)) for kind in paths} == {kind: [path] for kind, path in paths.items()}
    vm = seed.instance("vm", labels={"app": "web"})
    assert emulator.resource(vm)["labels"] == {"app": "web"}
    assert emulator.resource(vm)["status"] == "RUNNING"
    assert emulator.resource(paths["b"])["location"] == "EU"
    assert seed.ssh_key(USER, f"ssh-ed25519 {BLOB} laptop").startswith(f"users/{USER}/sshPublicKeys/")
    assert emulator.resource("b/nothing") is None


def test_a_seed_that_google_would_refuse_is_an_error_in_one_line(emulator):
    with pytest.raises(EmulatorError, match=r"^POST /storage/v1/b: 400: .*name.*$") as caught:
        emulator.seed.bucket("UPPER")

    assert "\n" not in str(caught.value)


def test_a_fault_ends_with_its_block(emulator):
    with emulator.fault(INSERT, status=503, times=2), pytest.raises(EmulatorError, match="503"):
        emulator.seed.instance("one")
    emulator.seed.instance("two")

    assert emulator.control("GET", "faults") == []
    assert [entry["status"] for entry in emulator.requests(INSERT)] == [503, 200]


def test_a_fault_of_an_outer_block_outlives_an_inner_one(emulator):
    with emulator.fault("compute.disks.insert", status=500):
        with emulator.fault(INSERT, status=503), pytest.raises(EmulatorError):
            emulator.seed.instance("one")
        with pytest.raises(EmulatorError, match="500"):
            emulator.seed.disk("data")


def test_a_fault_that_nothing_used_is_an_error(emulator):
    with (
        pytest.raises(EmulatorError, match=f"nothing called {INSERT} during the block"),
        emulator.fault(INSERT, status=503),
    ):
        emulator.seed.bucket("uploads")

    assert emulator.control("GET", "faults") == []


def test_the_error_of_a_block_is_not_hidden_by_an_unused_fault(emulator):
    with pytest.raises(ZeroDivisionError), emulator.fault(INSERT, status=503):
        _ = 1 / 0


def test_a_fault_of_an_unknown_method_names_those_that_are_like_it(emulator):
    with (
        pytest.raises(EmulatorError, match=r"compute.instance.insert is not .*did you mean compute.instances.insert"),
        emulator.fault("compute.instance.insert", status=503),
    ):
        pytest.fail("the block runs")


def test_an_emulator_that_is_gone_is_named():
    with running() as stopped:
        host = stopped.host
    with pytest.raises(EmulatorError, match=f"^no emulator answers at {host}: .*$"):
        stopped.resources("instances")


def test_a_port_that_is_in_use_is_named(emulator):
    port = emulator.host.rpartition(":")[2]
    with pytest.raises(EmulatorError, match=f"cannot open port {port}: .*"), running(int(port)):
        pytest.fail("the block runs")


def test_a_number_outside_the_range_of_ports_is_named():
    with pytest.raises(EmulatorError, match="cannot open port 99999: a port is 0 to 65535"), running(99999):
        pytest.fail("the block runs")


def test_google_clients_call_the_emulator(emulator):
    emulator.seed.topic("uploads")
    emulator.seed.instance("vm")
    instances = emulator.client(compute_v1.InstancesClient)
    instances.delete(project=PROJECT, zone=ZONE, instance="vm").result()
    bucket = emulator.client(storage.Client).create_bucket("made-by-client")
    topics = emulator.client(PublisherClient).list_topics(project=f"projects/{PROJECT}")

    assert emulator.resources("instances") == {}
    assert list(emulator.resources("b")) == [f"b/{bucket.name}"]
    assert [topic.name for topic in topics] == [f"projects/{PROJECT}/topics/uploads"]


def test_a_class_that_is_no_client_is_refused(emulator):
    with pytest.raises(EmulatorError, match=r"builtins\.dict is not a Google client with REST"):
        emulator.client(dict)


def test_advanced_time_ends_run_limits(emulator):
    scheduling = {"maxRunDuration": {"seconds": "3600"}, "instanceTerminationAction": "DELETE"}
    emulator.seed.instance("short", scheduling=scheduling)
    emulator.advance(3599)
    assert len(emulator.resources("instances")) == 1
    emulator.advance(2)

    assert emulator.resources("instances") == {}


def _answering(*statuses):
    """Answer pushes with these statuses, one after the other."""
    answers = iter(statuses)

    async def push(_request):
        return Response(status_code=next(answers))

    return lambda _url, _received: Starlette(routes=[Route("/push", push, methods=["POST"])])


def test_advanced_time_pushes_again(emulator):
    emulator.seed.topic("uploads")
    retry = {"minimumBackoff": "300s", "maximumBackoff": "600s"}
    with endpoint(_answering(503, 200)) as receiver:
        emulator.seed.push_subscription("push", "uploads", receiver.url, retryPolicy=retry)
        publisher = emulator.client(PublisherClient)
        publisher.publish(topic=f"projects/{PROJECT}/topics/uploads", messages=[PubsubMessage(data=b"hello")])
        assert [entry["status"] for entry in emulator.deliveries(1)] == [503]
        emulator.advance(601)

        assert [entry["status"] for entry in emulator.deliveries(2)] == [503, 200]


def test_the_environment_has_what_clients_read(monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    emulator = RunningEmulator("127.0.0.1:8095", "p")

    assert emulator.environment == {
        "GCPX_EMULATOR_HOST": "127.0.0.1:8095",
        "PUBSUB_EMULATOR_HOST": "127.0.0.1:8095",
        "STORAGE_EMULATOR_HOST": "http://127.0.0.1:8095",
        "GOOGLE_PROJECT": "p",
        "GOOGLE_CLOUD_PROJECT": "p",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        ("example.com", "", "example.com,127.0.0.1"),
        ("", "example.com, 127.0.0.1", "example.com,127.0.0.1"),
        ("a.example", "b.example", "a.example,b.example,127.0.0.1"),
        ("*", "", "*"),
    ],
)
def test_the_environment_keeps_hosts_that_have_no_proxy(monkeypatch, upper, lower, expected):
    monkeypatch.setenv("NO_PROXY", upper)
    monkeypatch.setenv("no_proxy", lower)
    variables = RunningEmulator("127.0.0.1:8095").environment

    assert (variables["NO_PROXY"], variables["no_proxy"]) == (expected, expected)


@pytest.mark.parametrize("name", ["a%2Fb", "a%25b", "a%b", "a+b~c"])
def test_paths_with_escapes_name_the_same_resource_everywhere(emulator, name):
    topic = emulator.seed.topic(name)
    subscription = emulator.seed.push_subscription(name, name, "http://127.0.0.1:9/push")

    assert topic == f"projects/{PROJECT}/topics/{name}"
    assert list(emulator.resources("topics")) == [topic]
    assert emulator.resource(topic)["name"] == topic
    assert emulator.resource(subscription)["topic"] == topic


def test_the_user_of_a_key_is_not_read_as_a_path(emulator):
    path = emulator.seed.ssh_key("some/one?two", f"ssh-ed25519 {BLOB} laptop")

    assert path.startswith("users/some/one?two/sshPublicKeys/")


async def _refuse(_request):
    return Response("closed for\nrepairs", status_code=503)


async def _greet(_request):
    return Response("hello")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_refuse, "^GET /_emulator/resources/b/uploads: 503: closed for repairs$"),
        (_greet, "^http://.*/_emulator/resources/b/uploads does not answer with JSON; is it an emulator's address[?]$"),
    ],
)
def test_what_is_no_resource_is_an_error(answer, reason):
    app = Starlette(routes=[Route("/{path:path}", answer)])
    with endpoint(lambda _url, _received: app) as other:
        emulator = RunningEmulator(other.url.removeprefix("http://").partition("/")[0])
        with pytest.raises(EmulatorError, match=reason):
            emulator.resource("b/uploads")


def test_a_request_that_cannot_be_sent_is_an_error_in_one_line(emulator):
    with pytest.raises(
        EmulatorError, match=r"^POST 'http://.*/_emulator/clock' cannot be sent: Out of range float values"
    ):
        emulator.advance(float("nan"))
    with pytest.raises(EmulatorError, match=r"^GET 'http://.*/_emulator/a\\nb' cannot be sent: "):
        emulator.control("GET", "a\nb")
    with pytest.raises(EmulatorError, match=r"^GET 'http://127.0.0.1:port/.*' cannot be sent: .*port"):
        RunningEmulator("127.0.0.1:port").resource("b/uploads")


def test_a_fault_takes_no_name(emulator):
    with pytest.raises(EmulatorError, match="omit `name`"), emulator.fault(INSERT, name="busy", status=503):
        pytest.fail("the block runs")

    assert emulator.control("GET", "faults") == []


@pytest.mark.parametrize(("look_up", "words"), [
    (lambda emulator: emulator.resources("instnces"), "did you mean instances"),
    (lambda emulator: emulator.resource("projects/p/zones/us-east1-b/instnces/web"), "did you mean instances"),
    (lambda emulator: emulator.requests("compute.instance.insert"), "did you mean compute.instances.insert"),
    (lambda emulator: emulator.fault("compute.instance.insert", status=503).__enter__(), "did you mean compute.instances.insert"),
    (lambda emulator: emulator.control("POST", "limit", {}), "did you mean limits"),
])  # fmt: skip
def test_a_misspelt_name_is_an_error_with_a_suggestion(emulator, look_up, words):
    with pytest.raises(EmulatorError, match=words):
        look_up(emulator)
