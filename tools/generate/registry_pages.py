"""The generated parts of the two pages in `docs` that Pulumi's registry shows.

Each part stands between two comments, `<!-- NAME -->` and `<!-- end of NAME -->`. The form of the pages follows
the registry's guidelines (`docs/overview-page.md` in pulumi/registry).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workspace import ROOT

from gcpx import __version__
from gcpx.config import KIND
from gcpx.model.fields import Property
from generate import examples, registry

INDEX: Final = "docs/_index.md"
INSTALLATION: Final = "docs/installation-configuration.md"
_SHOWN: Final = "gcpx:compute:BulkInstances"
"""The resource of the example on the first page."""
_PART: Final = re.compile(r"<!-- (download|example|installation|settings) -->\n.*?<!-- end of \1 -->", re.DOTALL)


def text(path: str) -> str:
    """Return the text of a page: the current file with every generated part written again."""
    page = (ROOT / path).read_text()
    return _PART.sub(lambda found: f"<!-- {found[1]} -->\n{_PARTS[found[1]]()}\n<!-- end of {found[1]} -->", page)


def _chooser(blocks: dict[str, str]) -> str:
    """Return the registry's short code that lets readers choose a language."""
    return "\n".join(_chooser_lines(blocks))


def _chooser_lines(blocks: dict[str, str]) -> Iterator[str]:
    yield f'{{{{< chooser language "{",".join(blocks)}" >}}}}'
    for language, block in blocks.items():
        yield f"{{{{% choosable language {language} %}}}}\n\n{block}\n\n{{{{% /choosable %}}}}"
    yield "{{< /chooser >}}"


def _example() -> str:
    programs = {language: examples.program(_SHOWN, language) for language in examples.FILES}
    return _chooser({language: examples.block(language, text) for language, text in programs.items()})


def _installation() -> str:
    add = "```bash\npulumi package add gcpx\n```"
    return _chooser(
        {
            "typescript": "```bash\nnpm install pulumi-gcpx\n```",
            "python": "```bash\npip install pulumi-gcpx\n```",
            **dict.fromkeys(("go", "csharp", "java", "yaml"), add),
            "hcl": f"Declare the provider in your program, then run `pulumi install`:\n\n{_HCL}",
        }
    )


def _download() -> str:
    url = registry.addresses(__version__, repository=registry.REPOSITORY or "OWNER/REPOSITORY")["pluginDownloadURL"]
    return f"```bash\npulumi plugin install resource gcpx {__version__} --server {url}\n```"


def _settings() -> str:
    return "\n".join(_setting(name, prop) for name, prop in KIND.inputs.items())


def _setting(name: str, prop: Property) -> str:
    variables = ", ".join(f"`{variable}`" for variable in prop.traits.environment)
    kind = "Optional, Secret" if prop.traits.secret else "Optional"
    return f"- `{name}` ({kind}): {prop.traits.description}{f' Environment: {variables}.' if variables else ''}"


_HCL: Final = f"""```hcl
terraform {{
  required_providers {{
    gcpx = {{
      source  = "pulumi/gcpx"
      version = "{__version__}"
    }}
  }}
}}
```"""
_PARTS: Final[dict[str, Callable[[], str]]] = {
    "download": _download,
    "example": _example,
    "installation": _installation,
    "settings": _settings,
}
