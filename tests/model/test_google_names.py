"""Hosts, scopes, keys, headers and accounts have the names that Google gives them.

What Google's published API descriptions say is read there. The rest is in the documentation that each case names.
"""

from __future__ import annotations

import json
import re
from importlib import resources

import pytest
from workspace import ROOT

from gcpx.config import settings
from gcpx.gcp.request import COMPUTE, OAUTH2, OSLOGIN, PUBSUB, STORAGE
from gcpx.gcp.settings import base_url
from gcpx_push import GOOGLE, IAP

DESCRIPTIONS = resources.files("googleapiclient") / "discovery_cache" / "documents"
APIS = {"compute.beta": COMPUTE, "oslogin.v1alpha": OSLOGIN, "pubsub.v1": PUBSUB, "storage.v1": STORAGE}
SCHEMA = (ROOT / "schema.json").read_text()
RECEIVERS = (ROOT / "docs" / "push-receivers.md").read_text()


def _text(name):
    return (DESCRIPTIONS / f"{name}.json").read_text()


@pytest.mark.parametrize("name", APIS)
def test_the_host_and_the_scope_of_an_api_are_those_of_its_description(name):
    api, described = APIS[name], json.loads(_text(name))

    assert f"{base_url(settings({}, {}), api)}/" == described["rootUrl"]
    assert api.scope in described["auth"]["oauth2"]["scopes"]
    assert described["servicePath"].startswith(api.path.removeprefix("/"))


@pytest.mark.parametrize(
    ("name", "pattern", "used"),
    [
        ("compute.beta", r"https://cloud-certs[a-z./-]+\.pem", SCHEMA),
        ("compute.beta", r"googleapis\.com/reservation-name", SCHEMA),
        ("compute.beta", r"/dev/disk/by-id/google-", SCHEMA),
        ("pubsub.v1", r"@gcp-sa-pubsub\.iam\.gserviceaccount\.com", RECEIVERS),
    ],
)
def test_a_name_in_a_description_of_google_is_written_as_there(name, pattern, used):
    (described,) = set(re.findall(pattern, _text(name)))

    assert described in used


@pytest.mark.parametrize(
    ("used", "name"),
    [
        # "Authentication for push subscriptions" in the Pub/Sub documentation
        (GOOGLE.headers, ("authorization",)),
        (GOOGLE.names, {"accounts.google.com", "https://accounts.google.com"}),
        (GOOGLE.certificates_url, "https://www.googleapis.com/oauth2/v1/certs"),
        # "Securing your app with signed headers" in the documentation of Identity-Aware Proxy
        (IAP.headers[0], "x-goog-iap-jwt-assertion"),
        (IAP.names, {"https://cloud.google.com/iap"}),
        (IAP.algorithm, "ES256"),
        (IAP.certificates_url, "https://www.gstatic.com/iap/verify/public_key"),
        # "Calling the tokeninfo endpoint" in the documentation of Google Identity
        (base_url(settings({}, {}), OAUTH2), "https://oauth2.googleapis.com"),
    ],
    ids=lambda value: None if isinstance(value, (set, frozenset)) else str(value),
)
def test_a_name_that_only_a_page_has_is_written_as_there(used, name):
    assert used == name


def test_no_page_and_no_description_has_a_name_that_google_does_not_use():
    invented = re.compile(r"x-svc-|vendor-domain|agent-domain")
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("provider/*/README.md"), *ROOT.glob("examples/**/*.py")]

    assert not [path for path in pages if invented.search(path.read_text())]
    assert not invented.search(SCHEMA)
