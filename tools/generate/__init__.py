"""Generators of the files that follow from the declarations: schema.json, RULES.md, tables in documents, the SDK."""
