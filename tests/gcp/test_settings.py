"""The provider's settings: where their values come from, and how they are checked."""

from __future__ import annotations

import os

import attrs
import pytest
from cli import users_environment
from engines import driver

from gcpx.config import KIND, settings
from gcpx.errors import UserError
from gcpx.gcp.settings import Settings
from gcpx.model.fields import ListOf, camel_case
from gcpx.model.values import Secret

USER = '{"type": "authorized_user", "client_id": "1", "client_secret": "hunter3", "refresh_token": "hunter2"}'
EMAIL = "robot@my-project.iam.gserviceaccount.com"


@pytest.mark.parametrize("attribute", [attribute.name for attribute in attrs.fields(Settings)])
def test_every_attribute_is_a_setting_with_a_default(attribute):
    prop = KIND.properties[camel_case(attribute)]

    assert getattr(Settings.of({prop.name: "given"}), attribute) == "given"
    assert getattr(Settings.of({prop.name: None}), attribute) == getattr(Settings(), attribute)


@pytest.mark.parametrize(
    ("variable", "attribute", "value"),
    [("GOOGLE_PROJECT", "project", "x"), ("GOOGLE_CLOUD_PROJECT", "project", "x"), ("GCLOUD_PROJECT", "project", "x"),
     ("CLOUDSDK_CORE_PROJECT", "project", "x"), ("GOOGLE_REGION", "region", "us-east1"),
     ("CLOUDSDK_COMPUTE_ZONE", "zone", "us-east1-b"), ("GOOGLE_CREDENTIALS", "credentials", USER),
     ("GOOGLE_OAUTH_ACCESS_TOKEN", "access_token", "x"),
     ("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "impersonate_service_account", EMAIL),
     ("CLOUDSDK_CORE_REQUEST_REASON", "request_reason", "x"), ("GCPX_EMULATOR_HOST", "emulator_host", "localhost:8095"),
     ("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "universe_domain", "example.cloud"),
     ("GOOGLE_OS_LOGIN_CUSTOM_ENDPOINT", "os_login_custom_endpoint", "https://oslogin.example")],
)  # fmt: skip
def test_a_setting_that_is_not_configured_comes_from_its_variable(variable, attribute, value):
    assert getattr(settings({}, {variable: value}), attribute) == value


EMPTY = [
    (name, empty)
    for name, prop in KIND.properties.items()
    for empty in ("", " ", *(("[]", []) if isinstance(prop.type, ListOf) else ()))
]


@pytest.mark.parametrize(("name", "empty"), EMPTY)
def test_an_empty_setting_is_not_configured(name, empty):
    variables = dict.fromkeys(KIND.properties["project"].traits.environment, "a-project")

    assert settings({name: empty}, variables) == settings({}, variables)
    assert settings({name: Secret(empty)}, variables) == settings({}, variables)


def test_configuration_takes_precedence_over_the_environment():
    found = settings({"project": "mine", "accessToken": "t"}, {"GOOGLE_PROJECT": "other", "GOOGLE_CREDENTIALS": "{}"})

    assert (found.project, found.access_token, found.credentials) == ("mine", "t", None)


def test_the_first_variable_that_is_set_takes_precedence():
    assert settings({}, {"GOOGLE_PROJECT": " ", "GCLOUD_PROJECT": "b", "GOOGLE_CLOUD_PROJECT": "a"}).project == "a"


def test_all_invalid_values_are_reported_with_their_setting_or_variable():
    with pytest.raises(UserError) as raised:
        settings({"requestTimeout": "soon"}, {"GOOGLE_REGION": "us-east1-b"})

    assert "requestTimeout: must be a number with the unit" in str(raised.value)
    assert "the environment variable GOOGLE_REGION must be a region" in str(raised.value)


@pytest.mark.parametrize(
    ("written", "seconds"), [(None, 120), ("30", 30), ("500ms", 0.5), ("1.5m", 90), ("24h", 86_400)]
)
def test_a_request_timeout_is_read_in_its_unit(written, seconds):
    assert settings({"requestTimeout": written}, {}).timeout_seconds == seconds


@pytest.mark.parametrize(
    ("config", "project"),
    [({"project": "a"}, None), ({"project": "a", "userProjectOverride": True}, "a"),
     ({"project": "a", "billingProject": "b", "userProjectOverride": "true"}, "b"), ({"billingProject": "b"}, None)],
)  # fmt: skip
def test_quota_is_charged_to_another_project_only_on_request(config, project):
    assert settings(config, {}).quota_project == project


def test_secrets_are_not_part_of_the_text_of_settings():
    found = settings({"accessToken": "hunter2"}, {})

    assert "hunter2" not in repr(found)
    assert found.secrets == {"hunter2"}


def test_secret_members_of_credentials_are_secrets_of_their_own():
    found = settings({"credentials": USER}, {})

    assert "hunter2" in found.secrets
    assert "authorized_user" not in found.secrets


SECRETS = {"accessToken", "credentials"}


def test_configuration_is_checked_with_its_json_texts(engine):
    def check(**config):
        news = driver.struct(config)
        answer = engine.stub.CheckConfig(
            driver.rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=news)
        )
        marked = {name: driver.secret(value) if name in SECRETS else value for name, value in config.items()}
        assert answer.inputs == driver.struct(marked), "the inputs are returned as the user wrote them, secrets marked"
        return driver.reasons(answer.failures)

    assert check(version="0.1.0", project="p", scopes='["a"]', userProjectOverride="true", __internal={}) == {}
    assert check(scopes=["a"], userProjectOverride=False) == {}
    assert "did you mean project?" in check(projct="p")["projct"]
    assert "must be a list" in check(scopes="a")["scopes"]
    assert "30s" in check(requestTimeout="soon")["requestTimeout"]
    assert "begins with https" in check(computeCustomEndpoint="compute")["computeCustomEndpoint"]
    assert any("conflicts with credentials" in reason for reason in check(credentials="{}", accessToken="t").values())


def test_no_change_of_the_configuration_replaces_resources(engine):
    old, new = {"version": "0.1.0", "project": "a"}, {"version": "0.2.0", "project": "b", "region": "us-east1"}
    answer = engine.stub.DiffConfig(driver.rpc.DiffRequest(old_inputs=driver.struct(old), news=driver.struct(new)))

    assert (list(answer.replaces), list(answer.diffs)) == ([], ["project", "region"])


def test_no_setting_of_the_user_who_runs_the_tests_reaches_them():
    read = {name for prop in KIND.inputs.values() for name in prop.traits.environment}
    variables = dict.fromkeys({"PATH", "GOOGLE_APPLICATION_CREDENTIALS", "PUBSUB_EMULATOR_HOST", *read}, "x")
    users_environment.forget(variables)

    assert variables == {"PATH": "x", "CLOUDSDK_CONFIG": os.devnull, "NO_GCE_CHECK": "true"}


def test_the_proxy_of_the_user_who_runs_the_tests_is_not_between_them_and_their_servers():
    variables = {"https_proxy": "http://proxy.example:3128", "NO_PROXY": "a.example"}
    users_environment.forget(variables)

    assert variables["https_proxy"] == "http://proxy.example:3128"  # for what some tests download
    assert variables["NO_PROXY"] == variables["no_proxy"] == "a.example,127.0.0.1,localhost"
