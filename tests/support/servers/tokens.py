"""ID tokens that the emulator issues."""

from __future__ import annotations

from typing import Any

from servers import plain_http

EMAIL = "pusher@example.com"
AUDIENCE = "me"


def issue_token(cloud: Any, **order: Any) -> str:
    """Let the emulator issue a token of `EMAIL` for `AUDIENCE`; `order` changes what it contains."""
    body = {"email": EMAIL, "audience": AUDIENCE, **order}
    response = plain_http.post(f"http://{cloud.host}/_emulator/tokens", json=body)
    token: str = response.json()["token"]
    return token
