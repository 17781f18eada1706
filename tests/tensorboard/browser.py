"""Headless Chromium, by the WebDriver protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.tensorboard.board import wait_for

# Pages of TensorBoard are made of elements with shadow trees of their own.
_EVERY_ELEMENT = """
function* everyElement(root) {
  for (const element of root.querySelectorAll("*")) {
    yield element;
    if (element.shadowRoot) yield* everyElement(element.shadowRoot);
  }
}
const found = (test) => Array.from(everyElement(document)).filter(test);
"""

_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",  # root, as in a container, can't have one
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--window-size=1400,1000",
]


def is_installed() -> bool:
    """Whether the driver and the browser that it drives are there."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    return bool(shutil.which("chromedriver") and any(map(shutil.which, browsers)))


class Browser:
    """One window of Chromium.

    Args:
      driver: where chromedriver answers.
      pictures: folder for pictures of the window where something was waited for in vain.
    """

    def __init__(self, driver: str, pictures: Path):
        self._pictures = pictures
        self._session = f"{driver}/session"
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": _ARGUMENTS}}
        made = self._command("", {"capabilities": {"alwaysMatch": options}})
        self._session += f"/{made['sessionId']}"

    def _command(self, path: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._session + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        """Goes to a page, afresh even if it differs from the one before by its fragment alone."""
        self._command("/url", {"url": "about:blank"})
        self._command("/url", {"url": url})

    def run(self, script: str) -> Any:
        """What a script returns; in it `found(test)` gives the elements that pass a test."""
        return self._command("/execute/sync", {"script": _EVERY_ELEMENT + script, "args": []})

    def wait_for(self, expression: str, what: str) -> Any:
        """The value of an expression, as soon as there is one that is true."""
        try:
            return wait_for(lambda: self.run(f"return {expression};"), what)
        except AssertionError as error:
            picture = self._pictures / f"{what}.png"
            picture.write_bytes(base64.b64decode(self._command("/screenshot")))
            raise AssertionError(f"{error}; what the window shows is in {picture}") from None

    def close(self) -> None:
        """Ends the browser."""
        self._command("", method="DELETE")


@contextlib.contextmanager
def started(pictures: Path) -> Iterator[Browser]:
    """A browser until the end of the block."""
    command = ["chromedriver", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        try:
            for line in driver.stdout:
                if port := re.search(r"started successfully on port (\d+)", line):
                    break
            else:
                raise AssertionError("chromedriver did not start")
            browser = Browser(f"http://127.0.0.1:{port[1]}", pictures)
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()
