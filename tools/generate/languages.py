"""The names of the SDK in each language, for the schema's `language` section.

Python's settings are in `generate/package_schema.py`. No SDK uses a name below `pulumi`, because those registries'
names belong to Pulumi. Modules keep the names of Google's APIs, in the spelling of each language.
"""

from __future__ import annotations

from typing import Any, Final

GO_MODULE: Final = "gcpx.dev/sdk/go"
"""The Go module's path. It is not published: programs replace it by a folder."""

LANGUAGES: Final[dict[str, dict[str, Any]]] = {
    "csharp": {
        "rootNamespace": "Gcpx",
        # The package's own namespace, `Gcpx.Sdk`: in `Gcpx.Gcpx`, the compiler would confuse `Gcpx` with its parent.
        "namespaces": {
            "gcpx": "Sdk",
            "compute": "Compute",
            "oauth2": "OAuth2",
            "oslogin": "OSLogin",
            "pubsub": "PubSub",
            "storage": "Storage",
        },
        "respectSchemaVersion": True,
    },
    "go": {
        "importBasePath": f"{GO_MODULE}/gcpx",
        "modulePath": GO_MODULE,
        "generateResourceContainerTypes": True,
        "respectSchemaVersion": True,
    },
    "java": {"basePackage": "dev.gcpx", "packages": {"gcpx": "sdk"}},
    "nodejs": {
        "packageName": "pulumi-gcpx",
        "packageDescription": "The SDK of gcpx, a Pulumi provider for parts of Google Cloud.",
        "respectSchemaVersion": True,
        "typescriptVersion": "^5.0.0",  # as in the programs that `pulumi new` writes, so that both share one
    },
}
