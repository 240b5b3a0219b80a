"""Options and environment with which programs of Pulumi's automation API run against an emulator."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gcpx_emulator.testing.control import EmulatorError
from gcpx_emulator.testing.running_emulator import RunningEmulator

if TYPE_CHECKING:
    from pulumi.automation import LocalWorkspaceOptions

_PLUGIN = "pulumi-resource-gcpx"


def options(emulator: RunningEmulator, folder: Path) -> LocalWorkspaceOptions:
    """Return the options of workspaces that keep stacks in `folder`, with a passphrase and without an account.

    Raises:
        EmulatorError: if the Pulumi CLI, its Python package or the plugin of gcpx is missing.
    """
    require(variables := environment(emulator, folder))
    try:
        from pulumi.automation import LocalWorkspaceOptions  # noqa: PLC0415 - the emulator does not require Pulumi
    except ModuleNotFoundError:
        raise EmulatorError("Pulumi's Python package is missing; install it: pip install pulumi") from None
    return LocalWorkspaceOptions(env_vars=variables)


def environment(emulator: RunningEmulator, folder: Path) -> dict[str, str]:
    """Return the environment variables with which `pulumi` uses a backend in `folder` and calls the emulator."""
    state = folder / "state"
    state.mkdir(parents=True, exist_ok=True)
    scripts = str(Path(sys.executable).parent)
    return {
        **emulator.environment,
        "PATH": os.pathsep.join((scripts, os.environ.get("PATH", ""))),
        "PULUMI_BACKEND_URL": state.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }


def require(variables: dict[str, str]) -> None:
    """Find the CLI and the plugin.

    Raises:
        EmulatorError: if one is missing; the message says where to get it.
    """
    if shutil.which("pulumi", path=variables["PATH"]) is None:
        raise EmulatorError("the Pulumi CLI is missing: `pulumi` is not on PATH; see pulumi.com/docs/install")
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    installed = any((home / "plugins").glob("resource-gcpx-v*"))
    if not installed and shutil.which(_PLUGIN, path=variables["PATH"]) is None:
        raise EmulatorError(
            f"the plugin is missing: {_PLUGIN} is not on PATH, and {home} has none; pip install pulumi-gcpx-provider"
        )
