"""Notification configurations."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from servers.google_clients import storage_client
from values.programs import BUCKET, PROJECT

from gcpx_emulator.core.projects import project_number

TOPIC = f"projects/{PROJECT}/topics/uploads"


def _agent(project):
    return f"service-{project_number(project)}@gs-project-accounts.iam.gserviceaccount.com"


def _let_publish(http, *members, role="roles/pubsub.publisher"):
    policy = {"bindings": [{"role": role, "members": list(members)}]} if members else {}
    http.post(f"/v1/{TOPIC}:setIamPolicy", json={"policy": policy}).raise_for_status()


def _restrict(http, *members, **more):
    bindings = [{"permission": "pubsub.topics.publish", "members": list(members), **more}]
    http.post("/_emulator/policy", json={"bindings": bindings}).raise_for_status()


def _insert(http, bucket=BUCKET):
    return http.post(f"/storage/v1/b/{bucket}/notificationConfigs", json={"topic": TOPIC, "payload_format": "NONE"})


def test_each_project_has_a_number_and_a_service_agent_of_its_own(http):
    for project in (PROJECT, "data-project"):
        http.post(f"/storage/v1/b?project={project}", json={"name": f"of-{project}"}).raise_for_status()
        bucket = http.get(f"/storage/v1/b/of-{project}", params={"projection": "full"}).json()
        number = bucket["projectNumber"]
        assert number == project_number(project)
        assert {entry["projectTeam"]["projectNumber"] for entry in bucket["acl"]} == {number}
        for named in (project, number):
            found = http.get(f"/storage/v1/projects/{named}/serviceAccount").json()
            assert (
                found["email_address"]
                == _agent(project)
                == f"service-{number}@gs-project-accounts.iam.gserviceaccount.com"
            )
    assert project_number(PROJECT) != project_number("data-project")
    assert http.get(f"/compute/v1/projects/{PROJECT}").json()["defaultServiceAccount"] == (
        f"{project_number(PROJECT)}-compute@developer.gserviceaccount.com"
    )


@pytest.mark.parametrize("role", ["roles/pubsub.publisher", "roles/pubsub.editor", "roles/pubsub.admin", "roles/owner"])
def test_a_topic_with_a_policy_takes_only_notifications_of_projects_that_it_lets_publish(http, role):
    http.post("/storage/v1/b?project=data-project", json={"name": "data-bucket"}).raise_for_status()
    assert _insert(http, "data-bucket").status_code == 200
    _let_publish(http, f"serviceAccount:{_agent(PROJECT)}", role=role)

    assert _insert(http).status_code == 200
    refused = _insert(http, "data-bucket")
    assert refused.status_code == 403
    assert f"The service account '{_agent('data-project')}' is not allowed to publish" in refused.text
    _let_publish(http, "allAuthenticatedUsers", role=role)
    assert _insert(http, "data-bucket").status_code == 200


def test_a_role_that_publishes_nothing_is_not_enough(http):
    _let_publish(http, f"serviceAccount:{_agent(PROJECT)}", role="roles/pubsub.viewer")

    assert _insert(http).status_code == 403


def test_who_may_publish_can_also_be_set_for_all_topics(http):
    _restrict(http, "somebody@example.com")
    assert _insert(http).status_code == 403
    _restrict(http, _agent(PROJECT), resources=["projects/p/topics/another"])
    assert _insert(http).status_code == 403
    _restrict(http, _agent(PROJECT), resources=[TOPIC])
    assert _insert(http).status_code == 200
    _restrict(http)
    _let_publish(http, f"serviceAccount:{_agent(PROJECT)}")
    assert _insert(http).status_code == 200


def test_a_configuration_is_created_read_listed_and_deleted(cloud):
    client = storage_client(cloud)
    bucket = client.bucket(BUCKET)
    config = bucket.notification(
        "uploads",
        topic_project=PROJECT,
        event_types=["OBJECT_FINALIZE"],
        custom_attributes={"a": "b"},
        payload_format="NONE",
    )
    config.create()

    assert bucket.get_notification(config.notification_id).custom_attributes == {"a": "b"}
    assert [item.notification_id for item in bucket.list_notifications()] == [config.notification_id]
    assert client.get_service_account_email() == _agent(PROJECT)
    config.delete()
    assert not config.exists()


def test_an_unknown_event_type_is_refused(cloud):
    config = storage_client(cloud).bucket(BUCKET).notification("uploads", PROJECT, event_types=["NOTHING"])
    with pytest.raises(exceptions.BadRequest, match="event type"):
        config.create()


@pytest.mark.parametrize("topic", [TOPIC, f"//pubsub.googleapis.com/{TOPIC}"])
def test_a_notification_takes_a_topic_in_both_forms(http, topic):
    made = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert made.json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    assert (
        http.get(f"/storage/v1/b/{BUCKET}/notificationConfigs/1").json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    )


@pytest.mark.parametrize(
    "topic", ["uploads", f"{TOPIC}/", "projects/p/topics/x", "//pubsub.googleapis.com//projects/p/topics/abc"]
)
def test_a_malformed_topic_is_refused(http, topic):
    answer = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert (answer.status_code, "Invalid Google Cloud Pub/Sub topic name" in answer.text) == (400, True)


def test_a_notification_for_a_topic_that_does_not_exist_is_refused(cloud, http):
    bucket = storage_client(cloud).bucket(BUCKET)
    with pytest.raises(exceptions.Forbidden, match=f"{PROJECT}/topics/missing.*does not exist"):
        bucket.notification("missing", topic_project=PROJECT).create()
    http.delete(f"/v1/{TOPIC}").raise_for_status()
    with pytest.raises(exceptions.Forbidden, match="does not exist"):
        bucket.notification("uploads", topic_project=PROJECT).create()

    assert list(bucket.list_notifications()) == []
