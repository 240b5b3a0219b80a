from __future__ import annotations

import base64
import struct
from typing import Any

from hypothesis import strategies as st
from programs import EXPIRY, FINGERPRINT, KEY, USER, key
from sample import ApiObject, Edit, Life, Sample, changing, inputs_with

_PATH = f"users/{USER}/sshPublicKeys/{FINGERPRINT}"


@st.composite
def _public_key(draw: Any) -> str:
    blob = struct.pack(">I", 11) + b"ssh-ed25519" + struct.pack(">I", 32) + draw(st.binary(min_size=32, max_size=32))
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {draw(st.sampled_from(['', 'me', 'a comment']))}"


SAMPLE = Sample(
    token=KEY,
    inputs=key(),
    any_inputs=inputs_with(
        {"user": st.sampled_from(["operator@example.com", "users/1234"]), "key": _public_key()},
        {"expirationTimeUsec": st.sampled_from(["1924991999000000", "2524608000000000"])},
    ),
    api=ApiObject("SshPublicKey", "oslogin.v1alpha", "oslogin.v1alpha"),
    own={"user", "projectId", "regions"},
    query={"user": USER},
    read_method="oslogin.users.sshPublicKeys.get",
    later_calls=("oslogin.users.sshPublicKeys.get",),
    lives={
        "key": Life(
            inputs=key(expirationTimeUsec=EXPIRY),
            path=_PATH,
            drift=(changing(_PATH, lambda body: body.update(expirationTimeUsec="1900000000000000")), "expirationTimeUsec"),
            edits=[
                Edit({"expirationTimeUsec": "1930000000000000"}, "update", {"expirationTimeUsec"}),
                Edit({"expirationTimeUsec": None}, "update", {"expirationTimeUsec"}),
                Edit({"user": "another@example.com"}, "replace", {"user"}),
            ],
            imports=[_PATH, f"{USER}/sshPublicKeys/{FINGERPRINT}", f"users/{USER}/{FINGERPRINT}", f"{USER}/{FINGERPRINT}", f"https://oslogin.googleapis.com/v1alpha/{_PATH}"],
        )
    },
)  # fmt: skip
