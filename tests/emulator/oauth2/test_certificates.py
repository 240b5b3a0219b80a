"""The public keys with which tokens are verified."""

from __future__ import annotations


def test_keys_are_published_in_every_form_and_rotated(http):
    pem, jwk = http.get("/oauth2/v1/certs"), http.get("/oauth2/v3/certs")
    http.post("/_emulator/keys/rotate")
    later = http.get("/oauth2/v1/certs")

    assert "max-age" in pem.headers["cache-control"]
    assert list(pem.json()) == [key["kid"] for key in jwk.json()["keys"]]
    assert not set(pem.json()) & set(later.json())
