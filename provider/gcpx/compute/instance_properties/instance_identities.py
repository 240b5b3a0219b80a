"""The identities of instances: service accounts and workload identities."""

from __future__ import annotations

from gcpx.model.fields import Record, field, record


@record
class ServiceAccount(Record):
    """The service account that instances run as."""

    email: str = field("The service account's e-mail address, such as `name@my-project.iam.gserviceaccount.com`.")
    scopes: list[str] = field(
        "OAuth 2.0 scopes of the access tokens that the guest can get, such as `[https://www.googleapis.com/auth/cloud-platform]`.",
        identity="set",
    )


@record
class WorkloadIdentityConfig(Record):
    """The workload identity of the instances."""

    identity: str = field("The identity of the instances.")
    identity_certificate_enabled: bool = field("Give instances a certificate for the identity.")
    identity_type: str = field(
        "The type of the identity: `AGENT_IDENTITY` or `SERVICE_ACCOUNT`.", enum=("AGENT_IDENTITY", "SERVICE_ACCOUNT")
    )
