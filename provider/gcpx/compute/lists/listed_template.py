"""An instance template, as lists show it.

Source: Compute API, `InstanceTemplate` (documentation section 2.3).
"""

from __future__ import annotations

from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_template import SourceInstanceParams
from gcpx.model.fields import Record, answer, record


@record
class ListedInstanceTemplate(Record):
    """An instance template."""

    creation_timestamp: str = answer("When the template was created (RFC 3339).")
    description: str = answer("A text about it.")
    id: str = answer("The numeric ID that Google assigned.")
    kind: str = answer("Always `compute#instanceTemplate`.")
    name: str = answer("The name.", always=True)
    properties: InstanceProperties = answer("The properties of the instances.")
    region: str = answer("The region of a regional template, as a URL.")
    self_link: str = answer("The template's URL.", always=True)
    source_instance: str = answer("The instance that the template was created from, as a URL.")
    source_instance_params: SourceInstanceParams = answer("How the template was created from that instance.")
