"""The settings of Sphinx; `make docs` runs it."""

from __future__ import annotations

from pathlib import Path

from gcpx import __version__

project = html_title = "gcpx"
version = release = __version__
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
root_doc = "index"

myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["style.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
copybutton_exclude = ".linenos, .gp, .go"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
linkcheck_allowed_redirects = {r"https://.*": r"https://.*"}
linkcheck_anchors = False
linkcheck_timeout = 20
suppress_warnings = ["misc.highlighting_failure"]  # requests in documents lack the version of HTTP
