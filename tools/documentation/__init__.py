"""Builds the documentation: a static site from the repository's Markdown, by Sphinx."""
