"""Scopes of service accounts: gcloud's short names become URLs, because Google would give no access for a short name."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN
from values.programs import FLEET, TEMPLATE, fleet, template

from gcpx.compute.instance_properties.scopes import SHORT_NAMES

PREFIX = "https://www.googleapis.com/auth/"


def _accounts(*scopes):
    return [{"email": "default", "scopes": list(scopes)}]


def _scopes(inputs, owner="properties"):
    return inputs[owner]["serviceAccounts"][0]["scopes"]


def test_a_short_name_is_its_url_in_the_preview_and_in_the_request(engine, cloud):
    given = _accounts("logging-write", f"{PREFIX}cloud-platform")
    urls = [f"{PREFIX}logging.write", f"{PREFIX}cloud-platform"]
    assert _scopes(engine.checked(TEMPLATE, "web", template(serviceAccounts=given))) == urls
    assert _scopes(engine.checked(FLEET, "f", fleet(1, serviceAccounts=given)), "instanceProperties") == urls
    engine.create(TEMPLATE, "web", template(serviceAccounts=given))
    (insert,) = cloud.requests("compute.instanceTemplates.insert")
    assert _scopes(insert["body"]) == urls


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_a_short_name_and_its_url_are_no_change(engine, name):
    created = engine.create(TEMPLATE, "web", template(serviceAccounts=_accounts(name)))
    assert engine.drift(created) == set()
    url = PREFIX + SHORT_NAMES[name]
    assert dict(engine.diff(created, template(serviceAccounts=_accounts(url))).detailedDiff) == {}


@pytest.mark.parametrize("scope", ["logging.write", "default", "www.googleapis.com/auth/compute", "Trace"])
def test_another_name_is_refused_with_the_known_ones(engine, cloud, scope):
    refused = engine.failures(TEMPLATE, template(serviceAccounts=_accounts(scope)))
    assert list(refused) == ["properties.serviceAccounts[0].scopes[0]"]
    assert "or a short name of gcloud: bigquery, cloud-platform" in refused["properties.serviceAccounts[0].scopes[0]"]
    assert cloud.calls() == []


def test_an_unknown_scope_stays_unknown(engine):
    assert _scopes(engine.checked(TEMPLATE, "web", template(serviceAccounts=_accounts(UNKNOWN)))) == [UNKNOWN]
