"""The recording: the README's program rolls a fleet to another image, with the real CLI against the emulator."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

from workspace import ROOT, Workspace, emulator

from picture.cells import Line, Style, line_of
from picture.drawing import Picture
from picture.terminal import Terminal
from picture.timeless import without_times

_CHANGE: Final = ("config", "set", "image", "family/debian-13")
_UP: Final = ("up", "--yes")
_END: Final = "Duration: "
"""The last line of the CLI's output."""
_PROMPT: Final = Style(8)
_TITLE: Final = "pulumi up rolls a fleet of 20 instances to another image"
_DESCRIPTION: Final = (
    "A terminal. The preview says that 20 members of a fleet are replaced, web-0001, web-0002, web-0003 and 17 more, in"
    " 5 batches, and that at least 20 of 20 members run at any time. The update has ended: one resource was updated,"
    " and 20 members run."
)


def record() -> Picture:
    """Run the README's program, change its image, and return the screen at the end of the second `pulumi up`."""
    with tempfile.TemporaryDirectory(prefix="gcpx-picture-") as folder, emulator() as host:
        workspace = Workspace.make(_program(Path(folder) / "readme"), Path(folder) / "run", host)
        workspace.run("up", "--yes", "--skip-preview")
        workspace.run(*_CHANGE)
        with Terminal.running(["pulumi", *_UP], workspace.program, workspace.variables) as terminal:
            screen = without_times(terminal.last_with(_END))
    return Picture(_TITLE, _DESCRIPTION, (_typed(_CHANGE), _typed(_UP), *screen))


def _program(folder: Path) -> Path:
    """Write the first program in the README as a project called `web`; return its folder."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found, "README.md has no program"
    folder.mkdir()
    (folder / "__main__.py").write_text(found[1])
    (folder / "Pulumi.yaml").write_text("name: web\nruntime: python\n")
    return folder


def _typed(arguments: tuple[str, ...]) -> Line:
    """Return the line of a command after the prompt."""
    return (*line_of("$ ", _PROMPT), *line_of(f"pulumi {' '.join(arguments)}", Style(bold=True)))
