"""The library fetches an issuer's certificates as the plugin does: with the proxies and certificates of the environment.

Holds settings.md: "The same holds for the ID tokens".
"""

from __future__ import annotations

import pytest
from engines import driver
from servers import tokens
from values.programs import PROJECT

from gcpx_push import Certificates, CertificatesError, PushVerifier

GOOGLE = "https://www.googleapis.com/oauth2/v1/certs"
TRUSTED = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"]


def _by_library(token, url=GOOGLE):
    return PushVerifier(tokens.AUDIENCE, tokens.EMAIL, certificates=Certificates(url)).verify(token).email


def _by_plugin(token):
    with driver.engine(project=PROJECT) as made:
        arguments = {"token": token, "audience": tokens.AUDIENCE, "serviceAccountEmail": tokens.EMAIL}
        return made.invoke("gcpx:pubsub:verifyPushToken", **arguments)["claims"]["email"]


VERIFIERS = pytest.mark.parametrize("verify", [_by_library, _by_plugin], ids=["library", "plugin"])


@VERIFIERS
@pytest.mark.parametrize("variable", TRUSTED)
def test_certificates_come_through_the_proxy_of_the_environment(cloud, proxy, monkeypatch, verify, variable):
    monkeypatch.setenv(variable, str(proxy.certificates))

    assert verify(tokens.issue_token(cloud)) == tokens.EMAIL
    assert proxy.connected == ["www.googleapis.com"]


@VERIFIERS
def test_a_server_that_nobody_trusts_is_not_believed(cloud, proxy, verify):
    with pytest.raises(Exception, match="could not be fetched: ConnectError"):
        verify(tokens.issue_token(cloud))


@VERIFIERS
@pytest.mark.parametrize("variable", TRUSTED)
def test_certificates_that_cannot_be_read_are_named(cloud, proxy, monkeypatch, verify, variable):
    monkeypatch.setenv(variable, "/no/such/file")

    with pytest.raises(Exception, match=f"the environment variable {variable} must be the path"):
        verify(tokens.issue_token(cloud))


@VERIFIERS
def test_a_proxy_that_is_no_address_is_named_without_its_password(cloud, proxy, monkeypatch, verify):
    monkeypatch.setenv("HTTPS_PROXY", "ftp://user:hunter2@proxy")

    with pytest.raises(Exception, match="the proxies in HTTPS_PROXY") as raised:
        verify(tokens.issue_token(cloud))
    assert "hunter2" not in str(raised.value)


def test_a_host_that_no_proxy_names_is_asked_directly(cloud, proxy, monkeypatch):
    monkeypatch.setenv("NO_PROXY", ".example.invalid")

    with pytest.raises(CertificatesError):
        _by_library(tokens.issue_token(cloud), "https://issuer.example.invalid/")
    assert proxy.connected == []


def test_an_issuer_on_this_machine_is_asked_directly(cloud, proxy, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")

    assert _by_library(tokens.issue_token(cloud), f"http://{cloud.host}/oauth2/v1/certs") == tokens.EMAIL


@pytest.mark.parametrize("url", [
    "http://issuer.example.invalid/certs", "http://169.254.169.254/certs", "http://192.0.2.1:8095/certs",
    "http://127.0.0.1.example.invalid/", "http://127.0.0.1@192.0.2.1/", "ftp://192.0.2.1/", "//issuer", "", "http://[::1",
])  # fmt: skip
def test_certificates_are_never_fetched_over_plain_http_from_another_host(url):
    with pytest.raises(ValueError, match="must begin with https://, or lead to this machine"):
        Certificates(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8095/certs", "http://localhost/certs", "http://[::1]:8095/", GOOGLE])
def test_certificates_may_be_fetched_from_this_machine_or_over_https(url):
    assert Certificates(url).url == url
