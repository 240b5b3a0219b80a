"""Scale the fleet of this folder's stack to 20, then 50, then 10 instances."""

import subprocess

for count in (20, 50, 10):
    subprocess.run(["pulumi", "config", "set", "count", str(count)], check=True)
    subprocess.run(["pulumi", "up", "--yes", "--skip-preview"], check=True)
    created = subprocess.run(["pulumi", "stack", "output", "created"], check=True, capture_output=True, text=True)
    print(f"asked for {count}, there are {created.stdout.strip()}")
