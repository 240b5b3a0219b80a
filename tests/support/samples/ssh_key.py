from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any

from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import BLOB, EXPIRY, FINGERPRINT, KEY, OTHER_BLOB, PROJECT, USER, key
from values.sample import (
    CANCELLATIONS,
    CRASHES,
    FAULTS,
    ApiObject,
    Edit,
    Inputs,
    Life,
    Program,
    Sample,
    changing,
    inputs_with,
)

_PATH = f"users/{USER}/sshPublicKeys/{FINGERPRINT}"


@st.composite
def _public_key(draw: Any) -> str:
    blob = struct.pack(">I", 11) + b"ssh-ed25519" + struct.pack(">I", 32) + draw(st.binary(min_size=32, max_size=32))
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {draw(st.sampled_from(['', 'me', 'a comment']))}"


def _surround(cloud: Emulated) -> None:
    cloud.post(f"/v1/users/{USER}:importSshPublicKey", {"key": f"ssh-ed25519 {OTHER_BLOB}"})


def _identity(inputs: Inputs) -> str:
    digest = hashlib.sha256(base64.b64decode(inputs["key"].split()[1])).hexdigest()
    return f"users/{USER}/sshPublicKeys/{digest}"


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
    changed_by=("oslogin.users.sshPublicKeys.create", "oslogin.users.sshPublicKeys.delete", "oslogin.users.sshPublicKeys.patch"),
    programs={
        "key": Program(inputs=key(), suites=frozenset({FAULTS})),
        "key_to_expire": Program(inputs=key(), updates={"expire": {"expirationTimeUsec": EXPIRY}}, suites=frozenset({CRASHES, CANCELLATIONS})),
        "key_expiring": Program(
            inputs=key(expirationTimeUsec=EXPIRY), updates={"extend": {"expirationTimeUsec": "1930000000000000"}}, suites=frozenset({FAULTS})
        ),
        "key_with_account": Program(inputs=key(projectId=PROJECT), suites=frozenset({CANCELLATIONS})),
    },
    surround=_surround,
    declared=inputs_with(
        {"key": st.sampled_from([f"ssh-ed25519 {blob} laptop" for blob in (BLOB, OTHER_BLOB)])}, {"expirationTimeUsec": st.just(EXPIRY)}
    ).map(lambda more: key(**more)),
    identity=_identity,
)  # fmt: skip
