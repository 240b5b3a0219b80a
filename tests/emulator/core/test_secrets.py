"""Secrets in bodies: found at every place where an API takes or returns one, for pages and for messages alike."""

from __future__ import annotations

import json

import pytest

from gcpx_emulator.core.secrets import MASK, masked, secrets_of, without_keys

SECRET = "Hunter2-the-password"
METADATA = {"kind": "compute#metadata", "fingerprint": "abc=", "items": [{"key": "startup-script", "value": SECRET}]}
DISKS = [{"diskEncryptionKey": {"rawKey": SECRET, "kmsKeyName": "abc="}}]
IN_METADATA = {
    "an instance": {"name": "abc=", "metadata": METADATA},
    "a template": {"properties": {"description": "abc=", "metadata": METADATA}},
    "a machine image": {"sourceInstanceProperties": {"description": "abc=", "metadata": METADATA}},
    "a saved instance": {"name": "abc=", "instanceProperties": {"metadata": METADATA}},
    "a bulk creation": {"namePattern": "abc=", "instanceProperties": {"metadata": METADATA}},
    "single instances": {"perInstanceProperties": {"abc=": {"metadata": {"items": [{"key": "a", "value": SECRET}]}}}},
    "a project": {"name": "abc=", "commonInstanceMetadata": METADATA},
    "a setting": METADATA,
    "a misspelled name": {"metdata": {"fingerprint": "abc=", **METADATA}},
    "a misspelled list": {"name": "abc=", "metadata": {"itms": [{"key": "password", "value": SECRET}]}},
    "a misspelled value": {"name": "abc=", "metadata": {"items": [{"key": "password", "valeu": SECRET}]}},
    "an item without a list": {"name": "abc=", "metdata": [{"key": "password", "value": SECRET}]},
    "a text": {"name": "abc=", "metadata": SECRET},
    "SSH keys": {"name": "abc=", "metadata": {"items": [{"key": "ssh-keys", "value": f"me:{SECRET}"}]}},
    "an object": {"name": "abc=", "metadata": {"fingerprint": SECRET}},
    "a composition": {"destination": {"metadata": {"a": SECRET}}, "sourceObjects": [{"name": "abc="}]},
    "an endpoint": {"name": "abc=", "pushConfig": {"pushEndpoint": f"https://example.com/push?token={SECRET}"}},
    "an audience": {"name": "abc=", "oidcToken": {"audience": f"https://example.com/push?token={SECRET}"}},
}
KEYS = {
    "a disk": {"name": "abc=", "diskEncryptionKey": {"rawKey": SECRET}},
    "disks": {"properties": {"disks": DISKS}},
    "a machine image": {"machineImageEncryptionKey": {"rsaEncryptedKey": SECRET}, "name": "abc="},
    "an account": {"private_key": SECRET, "name": "abc="},
    "a private key": {"name": "abc=", "note": f"-----BEGIN PRIVATE KEY-----\n{SECRET}"},
}


@pytest.mark.parametrize("body", (IN_METADATA | KEYS).values(), ids=IN_METADATA | KEYS)
def test_a_secret_is_found_for_pages_and_messages(body):
    page = json.dumps(masked(body))

    assert SECRET not in page
    assert "abc=" in page, "the rest stays"
    assert any(SECRET in secret for secret in secrets_of(body))
    assert "abc=" not in secrets_of(body)


@pytest.mark.parametrize("body", KEYS.values(), ids=KEYS)
def test_a_log_keeps_no_keys(body):
    assert SECRET not in json.dumps(without_keys(body))


@pytest.mark.parametrize("body", IN_METADATA.values(), ids=IN_METADATA)
def test_a_log_keeps_what_a_request_sets(body):
    assert without_keys(body) == body


def test_only_the_query_of_an_endpoint_is_hidden():
    body = {"pushConfig": {"pushEndpoint": "https://example.com/push?token=a"}, "other": "https://example.com/?a=b"}

    assert masked(body) == {"pushConfig": {"pushEndpoint": f"https://example.com/push?{MASK}"}, "other": body["other"]}
    assert masked({"pushEndpoint": "https://example.com/push"}) == {"pushEndpoint": "https://example.com/push"}
