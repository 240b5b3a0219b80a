"""Write the files that are generated from the declarations, or check that they are current.

`python -m generate documents`, `python -m generate sdk [LANGUAGE ...]`, or `python -m generate check`. `sdk` also
writes the sources of the SDK: first the examples in every language, then the documents.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from workspace import ROOT

from generate import documents, example_programs, sdk

_USAGE: Final = "usage: python -m generate documents|sdk|check"


def write_sdks(languages: list[str]) -> None:
    """Write the SDKs of these languages into `sdk`; exit with an error if a language has no generator."""
    unknown = sorted(set(languages) - set(sdk.LANGUAGES))
    if unknown:
        sys.exit(f"no SDK can be written in {', '.join(unknown)}; the languages are {', '.join(sdk.LANGUAGES)}")
    example_programs.write()
    documents.write()
    for language in languages:
        sdk.write(sdk.FOLDERS / language, language=language)
        print(f"wrote the SDK for {language} into {(sdk.FOLDERS / language).relative_to(ROOT)}")


def check() -> None:
    """Exit with an error that names every file that is not current."""
    # The examples determine the schema, and the schema the SDK: later differences would hide the cause.
    found = example_programs.outdated() or documents.outdated() or list(sdk.outdated())
    if found:
        sys.exit(f"out of date: {', '.join(found)}; run `make sdk` and commit the result")
    print(f"the programs of the examples, {', '.join(documents.TEXTS)} and {sdk.FOLDER.relative_to(ROOT)} are current")


def main(arguments: list[str]) -> None:
    """Run the command that the only argument names."""
    match arguments:
        case ["documents"]:
            documents.write()
        case ["sdk", *languages]:
            write_sdks(languages or ["python"])
        case ["check"]:
            check()
        case _:
            sys.exit(_USAGE)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"generate: {Path(error.cmd[0]).name} failed; its message is above")
    except example_programs.MissingExampleError as error:
        sys.exit(f"generate: {error}")
