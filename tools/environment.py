"""Print the exports that make `pulumi` use the plugin of this checkout: `eval "$(make -s env)"`.

Usage: `environment.py [LANGUAGE ...]`. Programs in Python and YAML can always be run; other languages must be named.
"""

from __future__ import annotations

import shlex
import subprocess
import sys

from workspace import ROOT, Workspace, environment, pulumi_folder


def main() -> None:
    """Prepare the folder `.work`, and print the exports."""
    folder = ROOT / ".work"
    (folder / "state").mkdir(parents=True, exist_ok=True)
    try:
        programs = pulumi_folder(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # it has printed its message
    variables = environment(programs, folder / "home", folder / "state")
    if not list((folder / "home" / "plugins").glob("resource-gcpx-*")):
        Workspace(ROOT, variables).install_plugin(folder)
    path = variables.pop("PATH").split(":")[:2]
    print(f"export PATH={shlex.quote(':'.join(path))}:$PATH")
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
