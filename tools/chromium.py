"""Find Chromium and its driver, or install Debian's packages; `make test-backends` runs this first.

The driver takes commands as JSON over HTTP, as the standard WebDriver describes.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import debian
import httpx

_PATIENCE: Final = 20.0
"""Seconds for one command."""
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
"""The key of an element's ID, from the standard."""
_ARGUMENTS: Final = (
    "--headless=new",
    "--no-sandbox",  # root cannot have one; only pages of the tests are opened
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-proxy-server",
)


def is_there() -> bool:
    """Return whether the browser and its driver are installed."""
    return all(map(shutil.which, ("chromium", "chromedriver")))


@attrs.frozen
class Browser:
    """A running browser with one page."""

    _client: httpx.Client
    _session: str

    def command(self, method: str, path: str, **body: Any) -> Any:
        """Send a command of WebDriver; return its value."""
        answer = self._client.request(method, f"{self._session}{path}", json=body if method == "POST" else None)
        value = answer.json()["value"]
        if answer.is_error:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value

    def open(self, url: str) -> None:
        """Open a page, and wait until it is loaded."""
        self.command("POST", "/url", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function of JavaScript in the page; return what it returns."""
        return self.command("POST", "/execute/sync", script=script, args=arguments)

    def until(self, condition: str, *arguments: Any) -> None:
        """Wait until an expression of JavaScript is true."""
        script = (
            "const done = arguments[arguments.length - 1];"
            f"const look = () => {{ if ({condition}) done(true); else setTimeout(look, 20); }}; look();"
        )
        self.command("POST", "/execute/async", script=script, args=arguments)

    def element(self, selector: str) -> str:
        """Return the path of the first element that a CSS selector finds."""
        found = self.command("POST", "/element", using="css selector", value=selector)
        return f"/element/{found[_ELEMENT]}"

    def click(self, selector: str) -> None:
        """Click on an element, as the mouse does."""
        self.command("POST", f"{self.element(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Press keys in an element."""
        self.command("POST", f"{self.element(selector)}/value", text=text)

    def show_as(self, width: int, height: int, scheme: str = "light") -> None:
        """Set the size of the window in CSS pixels, and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", **size)
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        features = [{"name": "prefers-color-scheme", "value": scheme}, still]
        self._devtools("Emulation.setEmulatedMedia", features=features)

    def _devtools(self, command: str, **parameters: Any) -> Any:
        return self.command("POST", "/goog/cdp/execute", cmd=command, params=parameters)

    def draw(self, file: Path) -> None:
        """Write what the window shows as a PNG."""
        file.write_bytes(base64.b64decode(self.command("GET", "/screenshot")))

    def webp(self, quality: int) -> bytes:
        """Return what the window shows as a WebP; `quality` is 0 to 100."""
        shot = self._devtools("Page.captureScreenshot", format="webp", quality=quality)
        return base64.b64decode(shot["data"])

    def complaints(self) -> list[str]:
        """Return what the browser has logged about its pages: errors and what a policy has blocked."""
        return [entry["message"] for entry in self.command("POST", "/se/log", type="browser")]


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser; at the end it is stopped."""
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        try:
            lines = driver.stdout or ()
            port = next(found[1] for line in lines if (found := re.search(r"successfully on port (\d+)", line)))
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_PATIENCE, trust_env=False) as client:
                options = {"goog:chromeOptions": {"args": _ARGUMENTS}, "goog:loggingPrefs": {"browser": "ALL"}}
                options["timeouts"] = {"script": int(_PATIENCE * 1000)}
                answer = client.post("/session", json={"capabilities": {"alwaysMatch": options}}).json()["value"]
                if "sessionId" not in answer:
                    raise RuntimeError(answer["message"])
                found = Browser(client, f"/session/{answer['sessionId']}")
                try:
                    yield found
                finally:
                    found.command("DELETE", "")
        finally:
            driver.terminate()


if __name__ == "__main__":
    debian.require("Chromium", ["chromium", "chromium-driver"], is_there)
