"""Advice in messages about an existing resource, with `pulumi import` commands that can be copied and run."""

from __future__ import annotations

import re
import shlex
from typing import Final

from gcpx.model.context import URN_PARTS, Context, name_in_urn

_DEFAULT: Final = re.compile(r"default(_(\d+_\d+_\d+|\w+/).*)?")
"""The engine's names of default providers: with the plugin's version or download URL, if the SDK has them."""


def not_ours(context: Context, resource_id: str, otherwise: str, state: str = "exists", verb: str = "created") -> str:
    """Return at most three lines that refuse to take over an existing resource, and say what to do.

    `state` describes the existing resource, and `verb` what this resource did not do; the other arguments are as for
    `how_to_manage`.
    """
    of_others = "" if context.is_blocked else f" and was not {verb} by this resource with these inputs"
    return f"{resource_id} {state} already{of_others}.\n{how_to_manage(context, resource_id, otherwise)}"


def how_to_manage(context: Context, resource_id: str, otherwise: str) -> str:
    """Return one or two lines about what to do if the resource to create exists; each command works as things are.

    If another resource of the stack manages it, they do not advise an import: deleting the other resource would delete
    it. The CLI refuses an import as a resource that the state has already.

    Args:
        context: the engine's call to create it.
        resource_id: the ID of the existing resource.
        otherwise: what to do if this resource is not to manage it.
    """
    holder, forget = context.urn_of(resource_id), f"`pulumi state delete {shlex.quote(context.urn)}`"
    if holder is not None and holder != context.urn:
        return (
            f"The resource {name_in_urn(holder)} of this stack manages it: {otherwise}, or, if that is this resource's "
            "former name, set the resource options aliases and deleteBeforeReplace"
        )
    if context.is_blocked:
        return (
            "This run replaces it, but did not delete it first: set the resource option deleteBeforeReplace, and run "
            f"`pulumi up` again. If that is set, an interrupted run created it, and {forget} lets the next run take "
            f"it over.\nIf the option retainOnDelete keeps it, {otherwise}"
        )
    command = import_command(context, resource_id)
    if context.replaces is not None and context.replaces.is_in_state:
        return (
            "Set the resource option deleteBeforeReplace if this run replaces it, or delete it if an interrupted "
            "replacement created it.\n"
            f"If nothing else manages it, run {forget}, and import it with {command}. Otherwise, {otherwise}"
        )
    first = "run `pulumi refresh`, and then " if context.prior else ""
    return (
        f"If nothing else manages it, {first}import it with {command}. If this run has the option --target-replace, "
        "set the resource option deleteBeforeReplace.\n"
        f"If this resource had another name before, set the resource option aliases. Otherwise, {otherwise}"
    )


def import_command(context: Context, resource_id: str, name: str = "") -> str:
    """Return the command, in backquotes, that imports something as the resource of a call, or as one with another name.

    The command names a provider that is not the default one. If the resource has a parent, it contains the parent's URN
    with NAME for its name, which the engine does not send.
    """
    provider = context.provider_urn
    stack, project, qualified_type, _ = context.urn.split("::", URN_PARTS - 1)
    parent_type = qualified_type.rpartition("$")[0]
    words = [
        "pulumi",
        "import",
        context.token,
        name or context.name,
        resource_id,
        *(["--parent", f"parent={stack}::{project}::{parent_type}::NAME"] if parent_type else []),
        *(["--provider", f"provider={provider}"] if provider and not _DEFAULT.fullmatch(name_in_urn(provider)) else []),
    ]
    return f"`{shlex.join(words)}`"
