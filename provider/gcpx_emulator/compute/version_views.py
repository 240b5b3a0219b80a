"""Resources, as a version of the API shows them."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.core.json_data import Json


def show(call: Call, resource: Json) -> Json:
    """Show a resource with the fields of the call's version only, and with links of that version.

    Partner metadata is shown only in the full view, which is not the default.
    """
    if "view" in call.method.parameters and call.query.get("view") != "FULL":
        resource = _without_partner_metadata(resource)
    version = call.method.version
    other = f"/compute/{'v1' if version == 'beta' else 'beta'}/"
    kind = resource["kind"].partition("#")[2]
    viewer = _Viewer(call.method.document.schemas, other, f"/compute/{version}/")
    shown: Json = viewer.show({"$ref": kind[0].upper() + kind[1:]}, resource)
    return shown


def _without_partner_metadata(resource: Json) -> Json:
    kept = {key: value for key, value in resource.items() if key != "partnerMetadata"}
    if "partnerMetadata" in resource.get("properties", {}):
        kept["properties"] = {key: value for key, value in resource["properties"].items() if key != "partnerMetadata"}
    return kept


@attrs.frozen
class _Viewer:
    """Shows values in one version.

    Attributes:
        schemas: of that version.
        other: the part of links that names the other version, which `wanted` replaces.
    """

    schemas: Json
    other: str
    wanted: str

    def show(self, spec: Json, value: Any) -> Any:
        """Show a value of a schema."""
        if isinstance(value, str):
            return value.replace(self.other, self.wanted) if "/compute/" in value else value
        if not isinstance(value, dict | list):
            return value
        if "$ref" in spec:
            spec = self.schemas[spec["$ref"]]
        if isinstance(value, list):
            return [self.show(spec.get("items", {}), item) for item in value]
        if "additionalProperties" in spec:
            return {key: self.show(spec["additionalProperties"], item) for key, item in value.items()}
        known = spec.get("properties")
        return value if known is None else {key: self.show(known[key], value[key]) for key in value if key in known}
