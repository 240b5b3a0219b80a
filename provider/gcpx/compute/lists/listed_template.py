"""An instance template in the results of list functions.

Source: REST reference, `instanceTemplates`.
"""

from __future__ import annotations

from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_template.declaration import SourceInstanceParams
from gcpx.model.fields import Record, answer, record


@record
class ListedInstanceTemplate(Record):
    """An instance template."""

    creation_timestamp: str = answer("When the template was created (RFC 3339).")
    description: str = answer("A description of the template.")
    id: str = answer("The numeric ID that Google assigned to the template.")
    kind: str = answer("Always `compute#instanceTemplate`.")
    name: str = answer("The template's name.", always=True)
    properties: InstanceProperties = answer("The properties of the instances.")
    region: str = answer("The URL of the region of a regional template.")
    self_link: str = answer("The template's URL.", always=True)
    source_instance: str = answer("The URL of the instance that the template was created from.")
    source_instance_params: SourceInstanceParams = answer("How the template was created from that instance.")
