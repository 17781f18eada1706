"""Who may talk to a server: a token or certificates of the cluster, and where it listens.

A graph is a program, and a server runs what it is sent. So it listens on the loopback interface,
and elsewhere only if its clients have to prove that they belong to the cluster. What they prove it
with lies in a folder that `penstock certs` makes and PENSTOCK_CREDENTIALS names, the same in all
tasks and clients.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import errors

FOLDER_VARIABLE = "PENSTOCK_CREDENTIALS"
INSECURE_VARIABLE = "PENSTOCK_INSECURE"
_HEADER = "authorization"
_log = logging.getLogger("penstock")

Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Credentials:
    """What the tasks and clients of one cluster share; `certificate` comes with `key`."""

    token: str = ""
    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""

    @property
    def has_certificates(self) -> bool:
        return bool(self.certificate)

    def __bool__(self) -> bool:
        return bool(self.token) or self.has_certificates

    def metadata(self) -> Metadata:
        """What a client sends along with each call."""
        return ((_HEADER, f"Bearer {self.token}"),) if self.token else ()

    def admits(self, metadata: Sequence[Any]) -> bool:
        """Whether a call's metadata has the token, where there is one."""
        if not self.token:
            return True
        sent = [str(value) for key, value in metadata if key == _HEADER]
        wanted = f"Bearer {self.token}".encode()
        return any(hmac.compare_digest(each.encode(), wanted) for each in sent)


def read_credentials(folder: str | None = None) -> Credentials:
    """The credentials of a folder, that of PENSTOCK_CREDENTIALS if None; none without one."""
    folder = os.environ.get(FOLDER_VARIABLE, "") if folder is None else folder
    if not folder:
        return Credentials()
    path = Path(folder)
    made = Credentials(
        token=_content(path / "token").decode().strip(),
        authority=_content(path / "ca.pem"),
        certificate=_content(path / "task.pem"),
        key=_content(path / "task.key"),
    )
    if made.has_certificates and not (made.key and made.authority):
        raise errors.FailedPreconditionError(
            None, None, f"{folder} has task.pem, but not both of task.key and ca.pem beside it"
        )
    if not made:
        raise errors.NotFoundError(
            None,
            None,
            f"{folder}, which {FOLDER_VARIABLE} names, has neither a token nor task.pem; "
            f"`penstock certs {folder}` makes them",
        )
    return made


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine as seen from itself alone."""
    host = host.strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def interface_for(host: str, credentials: Credentials) -> str:
    """Where a server listens that others know by the name `host`."""
    if is_loopback(host):
        bare = "127.0.0.1" if host == "localhost" else host.strip("[]")
        return f"[{bare}]" if ":" in bare else bare
    if not credentials:
        if os.environ.get(INSECURE_VARIABLE) != "1":
            raise errors.FailedPreconditionError(
                None,
                None,
                f"The server would listen on {host!r}, where everybody who reaches it could run "
                "programs on this machine. `penstock certs FOLDER` makes a token and certificates "
                f"for the cluster; start all tasks and clients with {FOLDER_VARIABLE}=FOLDER. In a "
                f"network that you trust, {INSECURE_VARIABLE}=1 does without.",
            )
        # No warning of Python's, since many programs of old switch those off.
        _log.warning(
            "%s=1: whoever reaches %r can run programs on this machine", INSECURE_VARIABLE, host
        )
    return "[::]"
