"""The same templates with a dynamic provider.

It is in a module of its own, because Pulumi serializes no more than some 300 from this one.
"""

import pulumi
from templates import Template

for number in range(pulumi.Config().require_int("count")):
    Template(
        f"template-{number}",
        {
            "name": f"template-{number}",
            "properties": {
                "machineType": "e2-small",
                "disks": [
                    {
                        "boot": True,
                        "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"},
                    }
                ],
                "networkInterfaces": [{"network": "global/networks/default"}],
                "labels": {"number": str(number)},
            },
        },
    )
