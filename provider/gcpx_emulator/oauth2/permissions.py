"""The permissions that calls of the service account credentials API need.

Source: `projects.serviceAccounts.generateIdToken` in the REST reference of the API.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import Need, declare_needs

_SIGN: Final = "iam.serviceAccounts.getOpenIdToken"


def _generate_id_token(call: Call) -> Iterator[Need]:
    yield Need((_SIGN,), call.path["serviceAccountsId"])


declare_needs([_SIGN], {"iamcredentials.projects.serviceAccounts.generateIdToken": _generate_id_token})
