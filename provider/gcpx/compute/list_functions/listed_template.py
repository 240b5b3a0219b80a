"""An instance template in the results of list functions.

Source: REST reference, `instanceTemplates`.
"""

from __future__ import annotations

from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_template.declaration import SourceInstanceParams
from gcpx.model.fields import Record, output_field, record


@record
class ListedInstanceTemplate(Record):
    """An instance template."""

    creation_timestamp: str = output_field("When the template was created (RFC 3339).")
    description: str = output_field("A description of the template.")
    id: str = output_field("The numeric ID that Google assigned to the template.")
    kind: str = output_field("Always `compute#instanceTemplate`.")
    name: str = output_field("The template's name.", always=True)
    properties: InstanceProperties = output_field("The properties of the instances.")
    region: str = output_field("The URL of the region of a regional template.")
    self_link: str = output_field("The template's URL.", always=True)
    source_instance: str = output_field("The URL of the instance that the template was created from.")
    source_instance_params: SourceInstanceParams = output_field("How the template was created from that instance.")
