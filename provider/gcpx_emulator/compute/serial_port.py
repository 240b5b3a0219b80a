"""The serial ports of instances. The emulator runs no system: after a boot, the first port shows a login prompt."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.core.json_data import Json


@handles("compute.instances.getSerialPortOutput")
def get_output(call: Call) -> Json:
    """Read what an instance has written to a port, from a position; a negative one counts from the end."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.read(path)
    has_booted = "lastStartTimestamp" in instance and call.query.get("port", "1") == "1"
    written = f"{instance['name']} login: " if has_booted else ""
    start = int(call.query.get("start") or 0)
    first = min(start, len(written)) if start >= 0 else max(0, len(written) + start)
    return {
        "kind": "compute#serialPortOutput",
        "selfLink": call.url(f"{path}/serialPort"),
        "contents": written[first:],
        "start": str(first),
        "next": str(len(written)),
    }
