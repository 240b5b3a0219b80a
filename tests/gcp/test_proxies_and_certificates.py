"""Google's own hosts, through a proxy of this machine: proxies, certificates, and what is fixed to these hosts.

Holds settings.md: "The environment variables `HTTPS_PROXY`"; "Calls to this machine"; "`SSL_CERT_FILE`".
"""

from __future__ import annotations

import json

import httpx
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing
from servers.token_server import ROBOT, Answer
from values.programs import PROJECT, TEMPLATE, template

from gcpx_http.connections import Connections

USER = {"type": "authorized_user", "client_id": "c", "client_secret": "hunter2", "refresh_token": "hunter2"}


def _engine(**config):
    return driver.engine(ClockedProvider(), project=PROJECT, **config)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_calls_go_through_the_proxy_and_trust_the_certificates_of_the_environment(cloud, proxy, monkeypatch, variable):
    monkeypatch.setenv(variable, str(proxy.certificates))
    with _engine(accessToken="hunter2") as made:
        made.create(TEMPLATE, "web", template())

    assert set(proxy.connected) == {"compute.googleapis.com"}
    assert {entry["authorized"] for entry in cloud.emulator.requests.kept} == {True}


def test_a_response_through_a_proxy_is_left_when_its_time_is_over(cloud, proxy, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificates))
    cloud.fail("compute.instanceTemplates.list", body=json.dumps({"comment": "x" * (1 << 20)}))
    now = 0.0

    def pass_time(*_):
        nonlocal now
        now += 31.0

    connections = Connections(lambda: now)
    url = f"https://compute.googleapis.com/compute/v1/projects/{PROJECT}/global/instanceTemplates"
    with cloud.interceptor.observed(pass_time), pytest.raises(httpx.ReadTimeout):
        connections.exchange("GET", url, timeout=httpx.Timeout(30.0))
    connections.close()


def test_an_authorized_user_gets_its_token_through_the_proxy(cloud, proxy, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificates))
    with _engine(credentials=json.dumps(USER)) as made:
        made.create(TEMPLATE, "web", template())

    (asked,) = proxy.tokens.asked
    assert (asked.path, asked.body["scope"]) == (
        "//oauth2.googleapis.com/token",
        ["https://www.googleapis.com/auth/compute"],
    )


def test_an_impersonation_asks_for_the_narrowest_scope_with_its_delegates(cloud, proxy, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificates))
    delegates = ["one@p.iam.gserviceaccount.com"]
    config = {"impersonateServiceAccount": ROBOT, "impersonateServiceAccountDelegates": delegates}
    with _engine(accessToken="hunter2", **config) as made:
        made.create(TEMPLATE, "web", template())
        cloud.fail("compute.instanceTemplates.insert", status=403, message="Forbidden")
        with failing() as failed:
            made.create(TEMPLATE, "another", template())

    (asked,) = proxy.tokens.asked
    assert asked.path.endswith(
        f"iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{ROBOT}:generateAccessToken"
    )
    assert asked.body["scope"] == ["https://www.googleapis.com/auth/compute"]
    assert asked.body["delegates"] == delegates
    assert "the permission compute.instanceTemplates.create on projects/demo-project" in failed[0].message
    assert f"The caller is {ROBOT}" in failed[0].message


@pytest.mark.parametrize("skew", [-7200.0, 7200.0])
def test_a_clock_that_is_wrong_by_hours_does_not_stop_an_impersonation(cloud, proxy, monkeypatch, skew):
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificates))
    proxy.tokens.skew = skew
    with _engine(accessToken="hunter2", impersonateServiceAccount=ROBOT) as made:
        assert made.create(TEMPLATE, "web", template()).id


def test_a_refused_impersonation_names_the_account_and_the_permission(cloud, proxy, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificates))
    proxy.tokens.lifetime = 3600
    proxy.tokens.next = [Answer(403, b'{"error": {"code": 403, "message": "hunter2"}}')]
    with _engine(accessToken="hunter2", impersonateServiceAccount=ROBOT) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert f"(HTTP 403); {ROBOT} may not exist" in failed[0].message
    assert "iam.serviceAccounts.getAccessToken" in failed[0].message


def test_certificates_that_nobody_trusts_are_told_at_once(proxy):
    with _engine(accessToken="hunter2") as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "the certificate is not trusted" in failed[0].message
    assert len(proxy.connected) == 1


def test_a_host_that_no_proxy_names_is_called_directly(proxy, monkeypatch):
    monkeypatch.setenv("NO_PROXY", ".example.invalid")
    with _engine(accessToken="hunter2", universeDomain="example.invalid") as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert proxy.connected == []
    assert "compute.example.invalid" in failed[0].message
    assert "cannot be resolved" in failed[0].message


def test_a_loopback_endpoint_is_never_called_through_a_proxy(cloud, proxy, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    with _engine(accessToken="hunter2", computeCustomEndpoint=f"http://{cloud.host}") as made:
        made.create(TEMPLATE, "web", template())

    assert proxy.connected == []


def test_a_proxy_that_refuses_is_told_at_once(proxy):
    proxy.refusal = 407
    with _engine(accessToken="hunter2") as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "refused the connection (HTTP 407)" in failed[0].message
    assert len(proxy.connected) == 1


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("HTTPS_PROXY", "ftp://user:hunter2@proxy", "must be URLs that begin with http:// or https://"),
        ("HTTPS_PROXY", "socks5://user:hunter2@proxy", "must be URLs that begin with http:// or https://"),
        ("SSL_CERT_FILE", "/no/such/file", "SSL_CERT_FILE must be the path of a file with certificates"),
        ("REQUESTS_CA_BUNDLE", "/etc/hostname", "REQUESTS_CA_BUNDLE must be the path of a file with certificates"),
    ],
)
def test_an_environment_that_cannot_be_used_is_an_error_of_ours(proxy, monkeypatch, variable, value, words):
    monkeypatch.setenv(variable, value)
    with _engine(accessToken="hunter2") as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert words in failed[0].message
    assert failed[0].code.name == "INVALID_ARGUMENT"
    assert "hunter2" not in failed[0].message
