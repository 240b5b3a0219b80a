"""A Pulumi provider for the parts of Google Cloud that others leave out."""

__version__ = "0.1.0"
