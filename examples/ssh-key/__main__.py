"""An SSH key in an OS Login profile that is valid until the end of 2030."""

import pulumi
import pulumi_gcpx as gcpx

laptop = gcpx.oslogin.SshKey(
    "laptop",
    user="operator@example.com",
    key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
    expiration_time_usec="1924991999000000",
)

pulumi.export("fingerprint", laptop.fingerprint)
