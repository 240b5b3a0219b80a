"""The built documentation: a static site from the Markdown of the repository, made by Sphinx."""
