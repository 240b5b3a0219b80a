"""Generators of files from the declarations: schema.json, the reference, tables in documents, the SDK."""
