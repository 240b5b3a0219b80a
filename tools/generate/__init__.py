"""Generators of what follows from the declarations: schema.json, the reference, tables in documents, the SDK."""
