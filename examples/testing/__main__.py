"""Web servers that are told about uploads. `test_web_tier.py` tests the component without an account."""

import pulumi
from web_tier import WebTier

config = pulumi.Config()
web = WebTier("web", size=config.get_int("size", 3), bucket=config.get("bucket", "demo-uploads"))

pulumi.export("zones", web.zones)
pulumi.export("notification", web.notification)
