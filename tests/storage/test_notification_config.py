"""NotificationConfig: one configuration for each creation, IDs of any form, and what messages say.

Holds reliability.md: "So gcpx takes one over"; "A notification whose ID could not".
Holds settings.md: "If Cloud Storage may not publish".
"""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from engines import driver
from engines.clock import HANGS
from engines.clocked import ClockedProvider
from engines.driver import failing
from rolling.rollouts import left_by
from servers import plain_http
from values.programs import BUCKET, NOTIFICATION, PROJECT, notification

from gcpx.storage.notification_config import NotificationConfig, known_before, provisional_number
from gcpx_emulator.core.projects import project_number

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
INSERT = "storage.notifications.insert"
TAKEN_OVER = (
    "the response to the request that creates it was lost, it did not exist before the request, and it is as requested. "
    "Google does not show who created it"
)
NUMBERS = ["7", "abc-7", "0b5e.XY_z", "two words", "50%", "what?x=1#y", "Gr\u00fc\u00dfe", "a%2Fb"]


def _said(engine):
    """Return what the plugin has said about what it has taken over."""
    return [text for _, _, text in engine.log.messages if "taken over" in text]


def _create_with_number(engine, cloud, number):
    """Create a configuration to which Google gives this ID."""
    item = {
        "kind": "storage#notification",
        "id": number,
        "topic": f"//pubsub.googleapis.com/projects/{PROJECT}/topics/uploads",
        "payload_format": "JSON_API_V1",
    }
    cloud.fail(INSERT, body=json.dumps(item))
    created = engine.create(NOTIFICATION, "n", notification())
    cloud.emulator.store.put(f"b/{BUCKET}/notificationConfigs/{number}", item)
    return created


@pytest.mark.parametrize("fault", [{"drop": "after"}, {"drop": "before"}, {"status": 503}], ids=str)
def test_a_lost_response_leads_to_one_configuration(clocked_engine, cloud, fault):
    cloud.fail(INSERT, **fault)
    created = clocked_engine.create(NOTIFICATION, "n", notification())

    assert created.id == f"{BUCKET}/notificationConfigs/1"
    assert cloud.emulator.store.counts()["notificationConfigs"] == 1


@pytest.mark.parametrize("body", ["{}", "[]", '{"kind": "storage#notification"}'])
def test_a_response_without_an_id_leads_to_one_configuration(clocked_engine, cloud, body):
    cloud.fail(INSERT, body=body)
    created = clocked_engine.create(NOTIFICATION, "n", notification())

    assert cloud.emulator.store.counts()["notificationConfigs"] == 1
    assert clocked_engine.drift(created) == set()


def test_equal_configurations_created_at_once_are_told_apart_though_every_response_is_lost(clocked_engine, cloud):
    cloud.fail(INSERT, times=8, drop="after")
    inputs = driver.struct(clocked_engine.checked(NOTIFICATION, "n", notification()))
    requests = [
        driver.rpc.CreateRequest(urn=clocked_engine.urn(NOTIFICATION, f"n-{n}"), properties=inputs) for n in range(8)
    ]
    created = {call.result().id for call in [clocked_engine.stub.Create.future(request) for request in requests]}

    assert created == {f"{BUCKET}/notificationConfigs/{number}" for number in range(1, 9)}


class _LateProvider(ClockedProvider):
    """A provider that goes on after the first creation of a configuration only when the next creation has ended."""

    def __init__(self):
        super().__init__()
        self.made, self.ended = threading.Event(), threading.Event()

    def resource(self, token):
        late = self

        class Late(NotificationConfig):
            def create(self, context, inputs):
                state = super().create(context, inputs)
                if context.name == "first":
                    late.made.set()
                    assert late.ended.wait(HANGS)
                return state

        with self._lock:
            return self._resources.setdefault(token, Late(*self._client_and_lookups))


def test_a_configuration_is_told_from_somebody_elses_before_the_call_that_created_it_has_ended(cloud):
    provider = _LateProvider()
    with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as engine, ThreadPoolExecutor() as pool:
        first = pool.submit(engine.create, NOTIFICATION, "first", notification())
        try:
            assert provider.made.wait(HANGS)
            second = engine.create(NOTIFICATION, "second", notification())
        finally:
            provider.ended.set()

        assert [first.result().id, second.id] == [f"{BUCKET}/notificationConfigs/{number}" for number in (1, 2)]


def test_an_equal_configuration_that_somebody_creates_when_a_response_is_lost_is_taken_over_with_a_message(
    clocked_engine, cloud
):
    cloud.fail(INSERT, drop="before")
    path = f"b/{BUCKET}/notificationConfigs"
    theirs = {"kind": "storage#notification", "id": "77", "payload_format": "JSON_API_V1"}
    theirs["topic"] = f"//pubsub.googleapis.com/projects/{PROJECT}/topics/uploads"

    def create(_, request):
        if request.startswith("POST") and request.endswith("notificationConfigs"):
            cloud.emulator.store.put(f"{path}/77", theirs)

    with cloud.interceptor.observed(create):
        created = clocked_engine.create(NOTIFICATION, "n", notification())

    assert _said(clocked_engine) == [f"{created.id} is taken over: {TAKEN_OVER}"]


def test_a_configuration_that_a_later_run_takes_over_is_told(clocked_engine, cloud):
    cloud.fail(INSERT, drop="after")
    cloud.fail("storage.notifications.list", body='{"items": []}')
    cloud.fail("storage.notifications.list", status=403, times=99)
    with failing() as failed:
        clocked_engine.create(NOTIFICATION, "n", notification())
    cloud.emulator.faults.queue.clear()
    state = left_by(failed[0], driver.Resource(clocked_engine.urn(NOTIFICATION, "n"), "", {}, {}))
    refreshed = clocked_engine.refresh(state)

    assert _said(clocked_engine) == [f"{refreshed.id} is taken over: {TAKEN_OVER}"]
    clocked_engine.refresh(refreshed)
    assert len(_said(clocked_engine)) == 1


def test_if_the_bucket_cannot_be_listed_after_a_lost_response_the_next_run_finds_the_configuration(engine, cloud):
    engine.create(NOTIFICATION, "other", notification(eventTypes=["OBJECT_DELETE"]))
    cloud.fail("storage.notifications.list", body='{"items": []}')
    cloud.fail(INSERT, drop="after")
    cloud.fail("storage.notifications.list", status=403, message="denied", times=9)
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())
    cloud.emulator.faults.queue.clear()
    state = left_by(failed[0], driver.Resource(engine.urn(NOTIFICATION, "n"), "", {}, {}))

    assert "may have carried the request out. Run the command again to go on. The bucket's list" in failed[0].message
    assert state.id == f"{BUCKET}/notificationConfigs/new"
    assert engine.refresh(state).id == f"{BUCKET}/notificationConfigs/2"
    updated = engine.update(state, notification())
    assert cloud.emulator.store.counts()["notificationConfigs"] == 2
    assert engine.drift(updated) == set()
    engine.delete(updated)
    assert engine.refresh(updated) is None
    assert cloud.emulator.store.counts()["notificationConfigs"] == 1


def test_if_the_time_is_over_before_a_lost_request_is_found_the_state_keeps_what_it_may_create(clocked_engine, cloud):
    cloud.fail(INSERT, drop="after")
    cloud.fail("storage.notifications.list", body='{"items": []}', times=99)
    with failing() as failed:
        clocked_engine.create(NOTIFICATION, "n", notification(), timeout=30)
    cloud.emulator.faults.queue.clear()

    assert failed[0].partial.id == f"{BUCKET}/notificationConfigs/new"
    assert len(cloud.requests(INSERT)) == 1
    state = left_by(failed[0], driver.Resource(clocked_engine.urn(NOTIFICATION, "n"), "", {}, {}))
    assert clocked_engine.refresh(state).id == f"{BUCKET}/notificationConfigs/1"


def test_a_provisional_id_cannot_be_imported(engine):
    with failing() as failed:
        engine.import_(NOTIFICATION, "n", f"{BUCKET}/notificationConfigs/new")

    assert "is not an ID of" in failed[0].message


@pytest.mark.parametrize("known", [[], ["7"], ["12", "7"], ["a,b", "two words", "50%"]])
def test_a_provisional_number_names_what_existed_before(known):
    assert known_before(provisional_number(known)) == frozenset(known or [""])
    assert known_before("7") is None


def test_a_configuration_that_publishes_the_same_events_as_another_causes_a_warning(engine):
    engine.create(NOTIFICATION, "one", notification())
    second = engine.create(NOTIFICATION, "two", notification(payloadFormat="JSON_API_V1"))

    assert second.id == f"{BUCKET}/notificationConfigs/2"
    ((urn, warning),) = [(urn, text) for severity, urn, text in engine.log.messages if severity == "WARNING"]
    assert urn == second.urn
    assert "The resource one of this stack manages it: remove one of the two resources" in warning
    assert "pulumi import" not in warning


def _agent(project):
    return f"service-{project_number(project)}@gs-project-accounts.iam.gserviceaccount.com"


def _move_bucket(cloud, project):
    own = {"_project": project, "projectNumber": project_number(project)}
    cloud.change(f"b/{BUCKET}", lambda bucket: bucket.update(own))


def _let_publish(cloud, topic, *accounts):
    members = [f"serviceAccount:{account}" for account in accounts] or ["serviceAccount:a@b.iam.gserviceaccount.com"]
    policy = {"bindings": [{"role": "roles/pubsub.publisher", "members": members}]}
    plain_http.post(f"http://{cloud.host}/v1/{topic}:setIamPolicy", json={"policy": policy}).raise_for_status()


@pytest.mark.parametrize("owner", [PROJECT, "data-project", "123456789012"])
@pytest.mark.parametrize(("status", "reason"), [(403, "forbidden"), (400, "invalid")])
def test_a_missing_permission_to_publish_comes_with_the_grant_to_the_agent_of_the_buckets_project(
    engine, cloud, status, reason, owner
):
    topic = "projects/other-project/topics/events"
    member = f"serviceAccount:{_agent(owner)}"
    _move_bucket(cloud, owner)
    cloud.fail(INSERT, status=status, reason=reason, message="cannot publish to the topic")
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification(topic=topic))

    assert (
        f"`gcloud pubsub topics add-iam-policy-binding {topic} --member={member} --role=roles/pubsub.publisher`"
    ) in failed[0].message
    assert (
        f'`gcp.pubsub.TopicIAMMember("publisher", topic="{topic}", role="roles/pubsub.publisher", member="{member}")`'
    ) in failed[0].message
    assert failed[0].message.count("Grant the named permission") == (status == 403)
    assert [entry["query"] for entry in cloud.requests("storage.buckets.get")] == [{"fields": "projectNumber"}]


def test_the_grant_in_the_error_lets_the_notification_be_created(cloud):
    topic = f"projects/{PROJECT}/topics/uploads"
    _move_bucket(cloud, "data-project")
    _let_publish(cloud, topic, _agent(PROJECT))  # the agent of the provider's project publishes nothing here
    with driver.engine(emulatorHost=cloud.host, project=PROJECT) as engine:
        with failing() as failed:
            engine.create(NOTIFICATION, "n", notification(topic=topic))
        (member,) = set(re.findall(r"serviceAccount:([^ `\"]+)", failed[0].message))
        _let_publish(cloud, topic, member)
        created = engine.create(NOTIFICATION, "n", notification(topic=topic))

    assert member == _agent("data-project")
    assert created.id == f"{BUCKET}/notificationConfigs/1"


def test_the_account_that_google_names_is_the_one_to_grant(engine, cloud):
    named = "service-7@gs-project-accounts.iam.gserviceaccount.com"
    cloud.fail(INSERT, status=403, message=f"The service account '{named}' is not allowed to publish to the topic.")
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert f"--member=serviceAccount:{named} --role" in failed[0].message
    assert set(cloud.calls("storage")) == {"storage.notifications.list", INSERT}


@pytest.mark.parametrize(
    ("fault", "how_to_read"),
    [
        (
            ("storage.buckets.get", {"status": 403, "reason": "forbidden"}),
            f"`gcloud storage service-agent --project=PROJECT` prints SERVICE_AGENT; PROJECT is the project of the bucket {BUCKET}",
        ),
        (
            ("storage.buckets.get", {"body": "{}"}),
            f"`gcloud storage service-agent --project=PROJECT` prints SERVICE_AGENT; PROJECT is the project of the bucket {BUCKET}",
        ),
        (
            ("storage.projects.serviceAccount.get", {"status": 403, "reason": "forbidden"}),
            f"`gcloud storage service-agent --project={project_number('data-project')}` prints SERVICE_AGENT",
        ),
        (
            ("storage.projects.serviceAccount.get", {"body": '{"email_address": "a@b.c; rm -rf /"}'}),
            f"`gcloud storage service-agent --project={project_number('data-project')}` prints SERVICE_AGENT",
        ),
    ],
)
def test_a_service_agent_that_cannot_be_read_is_replaced_by_the_command_that_prints_it(
    engine, cloud, fault, how_to_read
):
    _move_bucket(cloud, "data-project")
    cloud.fail(INSERT, status=400, reason="invalid", message="cannot publish to the topic")
    cloud.fail(fault[0], **fault[1])
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert "--member=serviceAccount:SERVICE_AGENT --role=roles/pubsub.publisher`" in failed[0].message
    assert how_to_read in failed[0].message


def test_the_service_agent_is_read_at_the_expense_of_the_project_that_pays(engine, cloud):
    cloud.fail(INSERT, status=400, reason="invalid", message="cannot publish to the topic")
    with failing():
        engine.create(NOTIFICATION, "n", notification(userProject="payer"))

    for method in ("storage.buckets.get", "storage.projects.serviceAccount.get"):
        assert [entry["query"].get("userProject") for entry in cloud.requests(method)] == ["payer"]


def test_another_refusal_says_nothing_about_the_topic(engine, cloud):
    cloud.fail(INSERT, status=400, reason="limitExceeded", message="too many")
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert "topic" not in failed[0].message


def test_a_disabled_api_is_not_taken_for_a_missing_grant(engine, cloud):
    cloud.fail(INSERT, status=403, reason="accessNotConfigured", message="disabled")
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert "`gcloud services enable storage.googleapis.com --project=PROJECT`" in failed[0].message
    assert "roles/pubsub.publisher" not in failed[0].message


def test_a_topic_without_its_project_requires_the_providers(cloud):
    with driver.engine(emulatorHost=cloud.host) as bare:
        reason = bare.failures(NOTIFICATION, notification(topic="uploads"))["topic"]

    assert "must be written projects/PROJECT/topics/TOPIC" in reason
    assert "pulumi config set gcpx:project" in reason


def test_a_deletion_is_retried_while_the_bucket_is_being_deleted(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification())
    cloud.fail("storage.notifications.delete", status=412)
    engine.delete(created)

    assert cloud.get(f"b/{BUCKET}/notificationConfigs/1") is None


def test_the_billed_project_is_sent_with_every_call(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(userProject="payer"))
    assert engine.refresh(created) == created
    assert engine.list(NOTIFICATION, {"bucket": BUCKET, "userProject": "payer"})[0] == [created.id]
    engine.delete(created)

    payers = {entry["method"]: entry["query"].get("userProject") for entry in cloud.emulator.requests.kept}
    assert payers == {f"storage.notifications.{verb}": "payer" for verb in ("list", "insert", "get", "delete")}


@pytest.mark.parametrize("number", NUMBERS)
def test_an_id_of_any_form_can_be_read_imported_and_deleted(engine, cloud, number):
    created = _create_with_number(engine, cloud, number)

    assert created.id == f"{BUCKET}/notificationConfigs/{number}"
    assert engine.refresh(created) == created
    assert engine.list(NOTIFICATION, {"bucket": BUCKET})[0] == [created.id]
    for form in (created.id, f"projects/_/buckets/{created.id}", f"b/{created.id}"):
        found = engine.import_(NOTIFICATION, "n", form)
        assert found.id == created.id
        assert engine.diff(found, notification()).changes == NO_CHANGE
    engine.next_run()
    engine.delete(created)
    assert cloud.get(f"b/{BUCKET}/notificationConfigs/{number}") is None


def test_the_id_in_a_self_link_is_escaped(engine, cloud):
    created = _create_with_number(engine, cloud, "two words")
    link = f"https://www.googleapis.com/storage/v1/b/{BUCKET}/notificationConfigs/two%20words"

    assert engine.import_(NOTIFICATION, "n", link).id == created.id


@pytest.mark.parametrize("wrong", ["", BUCKET, f"{BUCKET}/notificationConfigs/", "/notificationConfigs/1"])
def test_an_incomplete_id_is_refused_with_the_allowed_forms(engine, wrong):
    with failing() as failed:
        engine.import_(NOTIFICATION, "n", wrong)

    assert "BUCKET/notificationConfigs/ID" in failed[0].message
