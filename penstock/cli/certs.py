"""`penstock certs`: a token and certificates, by which the tasks and clients of a cluster know
each other."""

from __future__ import annotations

import argparse
import ipaddress
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.distributed.credentials import FOLDER_VARIABLE

_ALWAYS = ("localhost", "127.0.0.1", "::1")
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to put them; a new folder is made")
    parser.add_argument(
        "hosts", nargs="*", metavar="host", help="names and addresses of the tasks' machines"
    )
    parser.add_argument(
        "--token-only", action="store_true", help="no certificates: calls are not encrypted"
    )
    parser.add_argument("--days", type=int, default=365, help="how long certificates are valid")


def certs(options: Any) -> int:
    """Runs the command; the exit status."""
    folder = Path(options.folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    taken = [path.name for path in folder.iterdir()]
    if taken:
        print(f"{folder} is not empty: it has {', '.join(sorted(taken))}", file=sys.stderr)
        return 1
    if not options.token_only:
        try:
            _make_certificates(folder, [*_ALWAYS, *options.hosts], options.days)
        except FileNotFoundError:
            print(
                "Certificates are made with the program openssl, which is not on PATH; "
                "--token-only does without.",
                file=sys.stderr,
            )
            return 1
        except subprocess.CalledProcessError as error:
            print(f"openssl failed: {error.stderr.strip()}", file=sys.stderr)
            return 1
    _write_secret(folder / "token", secrets.token_urlsafe(32).encode())
    print(f"Copy {folder} to every machine of the cluster, and start all tasks and clients with")
    print(f"  {FOLDER_VARIABLE}={folder.resolve()}")
    return 0


def _write_secret(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)


def _make_certificates(folder: Path, hosts: Sequence[str], days: int) -> None:
    """An authority, whose key is thrown away, and one certificate of it for all tasks."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        lifetime = ("-days", str(days))
        authority = ("-keyout", work / "ca.key", "-out", work / "ca.pem")
        usage = ("-addext", "keyUsage=critical,keyCertSign")
        subject = ("-subj", "/CN=Penstock cluster")
        _openssl("req", "-x509", *_KEY, *authority, *lifetime, *subject, *usage)
        request = ("-keyout", work / "task.key", "-out", work / "task.csr")
        _openssl("req", *_KEY, *request, "-subj", "/CN=Penstock task")
        extensions = work / "extensions"
        extensions.write_text(
            f"subjectAltName={','.join(map(_alternative_name, hosts))}\n"
            "extendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=critical,CA:FALSE\n"
        )
        signer = ("-CA", work / "ca.pem", "-CAkey", work / "ca.key", "-CAcreateserial")
        files = ("-in", work / "task.csr", "-out", work / "task.pem", "-extfile", extensions)
        _openssl("x509", "-req", *files, *signer, *lifetime)
        for name in ("ca.pem", "task.pem", "task.key"):
            _write_secret(folder / name, (work / name).read_bytes())


def _alternative_name(host: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(host)}"
    except ValueError:
        return f"DNS:{host}"


def _openssl(*arguments: Any) -> None:
    command = ["openssl", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, text=True)
