"""Variables, files and the machine of who runs the tests: what they say of Google and Pulumi reaches no test."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import Final

_PREFIXES: Final = ("CLOUDSDK_", "GCLOUD_", "GOOGLE_", "PULUMI_")
_NAMES: Final = frozenset({"GCPX_EMULATOR_HOST", "GCPX_VALIDATE_ONLINE", "USER_PROJECT_OVERRIDE"})
_EMULATORS: Final = "_EMULATOR_HOST"
"""The end of the names of variables that send Google's clients to an emulator."""


def forget(variables: MutableMapping[str, str] = os.environ) -> None:
    """Remove the user's settings, and let the credentials of `gcloud auth`, and of the machine, be looked for nowhere.

    Proxies stay, because some tests download packages, but are not used for the servers of tests.
    """
    for name in list(variables):
        if name.startswith(_PREFIXES) or name.endswith(_EMULATORS) or name in _NAMES:
            del variables[name]
    variables.update(CLOUDSDK_CONFIG=os.devnull, NO_GCE_CHECK="true")
    if any(name.lower().endswith("_proxy") for name in variables):
        excepted = (variables.get("NO_PROXY") or variables.get("no_proxy", ""), "127.0.0.1", "localhost")
        variables["NO_PROXY"] = variables["no_proxy"] = ",".join(filter(None, excepted))
