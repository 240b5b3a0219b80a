"""Generation of every file that follows from the declarations: schema.json, RULES.md, tables of README.md, the SDK."""
