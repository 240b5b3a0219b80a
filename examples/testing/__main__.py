"""Web servers that are told about uploads. `test_web_tier.py` tests the component without an account."""

from web_tier import WebTier

import pulumi

config = pulumi.Config()
web = WebTier("web", size=config.get_int("size", 3), bucket=config.get("bucket", "demo-uploads"))

pulumi.export("zones", web.zones)
pulumi.export("notification", web.notification)
