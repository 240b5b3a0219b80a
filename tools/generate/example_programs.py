"""Converts the YAML example of each resource and function to every other language.

`examples/NAME/yaml/Pulumi.yaml` is written by hand. Pulumi's own generators convert it, and `example_style` cleans up
the result. The other files of the folder are committed, so that people can read them and
the schema can be written without the generators; `make check-generated` converts again and compares.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workspace import ROOT, pulumi_setup

from gcpx.provider import FUNCTIONS, RESOURCES
from generate import example_style, package_schema
from generate.examples import FILES, FOLDER, SOURCE, example_of, names

_RUNTIME_AND_PROGRAM: Final = re.compile(r"^runtime: yaml$.*", re.MULTILINE | re.DOTALL)
"""The YAML example after the header that all languages share."""


class MissingExampleError(Exception):
    """A resource or function has no example."""


def write() -> None:
    """Convert every example, and replace earlier results.

    Raises:
        MissingExampleError: an example is missing; the message names the file to write.
        subprocess.CalledProcessError: an example cannot be converted; the generator has printed which and why.
    """
    for path, text in _converted():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def outdated() -> list[str]:
    """Return the outdated files."""
    return [str(path.relative_to(ROOT)) for path, text in _converted() if not path.exists() or path.read_text() != text]


def _converted() -> Iterator[tuple[Path, str]]:
    """Yield each file generated from the YAML examples, and its text."""
    _require_examples()
    with tempfile.TemporaryDirectory() as scratch:
        output = _generate(Path(scratch))
        for name in names():
            source = (FOLDER / name / SOURCE).read_text()
            # The Python program is the one that `pulumi up` runs in the folder of the example.
            yield FOLDER / name / "Pulumi.yaml", _RUNTIME_AND_PROGRAM.sub("runtime: python\n", source)
            for language, path in FILES.items():
                if path != SOURCE:
                    [generated] = (output / name / language).iterdir()
                    yield FOLDER / name / path, example_style.STYLES[language](generated.read_text(), name)


def _require_examples() -> None:
    for token in (*RESOURCES, *FUNCTIONS):
        path = FOLDER / example_of(token) / SOURCE
        if not path.exists():
            raise MissingExampleError(f"{token} has no example; write {path.relative_to(ROOT)}")


def _generate(scratch: Path) -> Path:
    """Run Pulumi's generators on all examples; return the folder with a folder for each example and language."""
    schema, programs, output = scratch / "schema.json", scratch / "programs", scratch / "output"
    # Descriptions do not matter here, and contain the examples themselves.
    schema.write_text(json.dumps(package_schema.declared()))
    for name in names():
        (programs / name).mkdir(parents=True)
        shutil.copy(FOLDER / name / SOURCE, programs / name)
    subprocess.run([pulumi_setup("--converter"), "programs", str(schema), str(output), str(programs)], check=True)
    return output
