"""An instance template, as lists show it.

Source: Compute API, `InstanceTemplate` (documentation section 2.3).
"""

from __future__ import annotations

from gcpx.model.fields import Record, answer, record
from gcpx.resources.instance_properties import InstanceProperties
from gcpx.resources.instance_template import SourceInstanceParams


@record
class ListedInstanceTemplate(Record):
    """An instance template."""

    creation_timestamp: str = answer("When it was made (RFC 3339).")
    description: str = answer("A text about it.")
    id: str = answer("The number that Google gave it.")
    kind: str = answer("Always `compute#instanceTemplate`.")
    name: str = answer("The name.", always=True)
    properties: InstanceProperties = answer("What instances are made of.")
    region: str = answer("The region of a regional template, as a URL.")
    self_link: str = answer("The template's URL.", always=True)
    source_instance: str = answer("The instance that it was made from, as a URL.")
    source_instance_params: SourceInstanceParams = answer("How it followed that instance.")
