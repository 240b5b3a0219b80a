"""Record the picture of the README, and write it as SVG: `python -m picture FILE`.

Recorders such as asciinema keep the times of a run, so no two recordings are equal, and a test could not compare them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from picture.drawing import draw
from picture.recording import record

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(record()))
