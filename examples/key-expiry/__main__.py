"""An SSH key in an OS Login profile that expires on a date, which the program converts to microseconds since 1970."""

from datetime import UTC, datetime

import pulumi
import pulumi_gcpx as gcpx

expires = datetime(2031, 1, 1, tzinfo=UTC)

laptop = gcpx.oslogin.SshKey(
    "laptop",
    user="operator@example.com",
    key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
    expiration_time_usec=f"{expires.timestamp():.0f}000000",
)

pulumi.export("expires", expires.isoformat())
pulumi.export("fingerprint", laptop.fingerprint)
