"""ID tokens: signed and inspected."""

from __future__ import annotations

import json

from google.oauth2 import id_token
from servers.google_clients import PUSHER, relocated


def test_a_token_is_inspected(cloud, http):
    token = http.post("/_emulator/tokens", json={"email": PUSHER, "audience": "me"}).json()["token"]
    good = http.get("/tokeninfo", params={"id_token": token})
    bad = http.get("/tokeninfo", params={"id_token": token[:-2]})
    none = http.get("/tokeninfo")
    fields = ["alg", "aud", "azp", "email", "email_verified", "exp", "iat", "iss", "kid", "sub", "typ"]

    assert sorted(good.json()) == fields
    assert (good.json()["email_verified"], good.json()["alg"]) == ("true", "RS256")
    assert (bad.status_code, none.status_code) == (400, 400)
    assert bad.json()["error"] == "invalid_token"
    assert token not in json.dumps(list(cloud.emulator.requests.kept))


def test_tokens_are_signed_for_service_accounts(cloud, http):
    path = f"/v1/projects/-/serviceAccounts/{PUSHER}:generateIdToken"
    signed = http.post(path, json={"audience": "me", "includeEmail": True}).json()

    assert id_token.verify_oauth2_token(signed["token"], relocated(cloud), audience="me")["email"] == PUSHER
