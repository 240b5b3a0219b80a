"""Run this folder's fleet through its life, against the emulator at the address in GCPX_EMULATOR_HOST."""

import json
import os
import subprocess
import urllib.request


def main() -> None:
    """Create, scale and roll the fleet; let it fall short, fall back and heal; park it overnight."""
    act("create 10 workers", count=10)
    act("scale to 15", count=15)
    act("roll out the next release to one worker", release="two", pauseAfter=1)
    act("roll it out to the others", pauseAfter=None)
    emulate("limits", {"zones": {"us-east1-b": 15, "us-east1-c": 3}})
    act("scale to 20, while zone b has no room for more, and zone c has room for 3", count=20)
    emulate("limits", {})
    act("fill up once there is room", "--refresh")
    emulate("preempt", {"names": "worker-000[23]", "project": os.environ["GOOGLE_PROJECT"]})
    act("heal after Google has preempted two", "--refresh")
    act("roll out another image", image="debian-13")
    act("park for the night", count=0)
    act("wake up", count=20)


def act(title: str, *options: str, **settings: str | int | None) -> None:
    """Change settings of the program, and run `pulumi up`."""
    print(f"\n=== {title}", flush=True)
    for name, value in settings.items():
        change = ["rm", name] if value is None else ["set", name, str(value)]
        subprocess.run(["pulumi", "config", *change], check=True)
    subprocess.run(["pulumi", "up", "--yes", *options], check=True)


def emulate(control: str, body: dict[str, object]) -> None:
    """Make something happen in the emulator."""
    url = f"http://{os.environ['GCPX_EMULATOR_HOST']}/_emulator/{control}"
    headers = {"Content-Type": "application/json"}  # the emulator takes no commands in a form that web pages can send
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).close()


if __name__ == "__main__":
    main()
