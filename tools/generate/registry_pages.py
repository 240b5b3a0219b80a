"""The generated parts of the two pages in `docs` that Pulumi's registry shows.

Each part stands between two comments, `<!-- NAME -->` and `<!-- end of NAME -->`. The table of settings on the second
page is one of `document_tables`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workspace import ROOT

from gcpx import __version__
from generate import document_tables, examples, registry

INDEX: Final = "docs/_index.md"
INSTALLATION: Final = "docs/installation-configuration.md"
_SHOWN: Final = "gcpx:compute:BulkInstances"
"""The resource whose example is on the first page."""
_PART: Final = re.compile(r"<!-- (example|download) -->\n.*?<!-- end of \1 -->", re.DOTALL)


def text(path: str) -> str:
    """Return the text of a page: the current file with every generated part written again."""
    page = document_tables.text(path) if path in document_tables.TABLES else (ROOT / path).read_text()
    return _PART.sub(lambda found: f"<!-- {found[1]} -->\n{_PARTS[found[1]]()}\n<!-- end of {found[1]} -->", page)


def _chooser(blocks: dict[str, str]) -> str:
    """Let the reader choose a language, in the registry's short codes."""
    return "\n".join(_chooser_lines(blocks))


def _chooser_lines(blocks: dict[str, str]) -> Iterator[str]:
    yield f'{{{{< chooser language "{",".join(blocks)}" >}}}}'
    for language, block in blocks.items():
        yield f"{{{{% choosable language {language} %}}}}\n\n{block}\n\n{{{{% /choosable %}}}}"
    yield "{{< /chooser >}}"


def _example() -> str:
    return _chooser(
        {language: f"```{language}\n{examples.program(_SHOWN, language)}\n```" for language in examples.FILES}
    )


def _download() -> str:
    url = registry.addresses(__version__, repository=registry.REPOSITORY or "OWNER/REPOSITORY")["pluginDownloadURL"]
    return f"```sh\npulumi plugin install resource gcpx {__version__} --server {url}\n```"


_PARTS: Final[dict[str, Callable[[], str]]] = {"example": _example, "download": _download}
