"""`tf.keras.utils.get_file`: files that a program expects to be downloaded."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zipfile
from typing import Any
from urllib.parse import urlparse

__all__ = ["get_file"]


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of a file in Keras' cache, `~/.keras`; nothing is downloaded.

    A file that isn't there is copied from `origin` if that is a path or a `file:` address; for
    other addresses the error says where to put it.

    Args:
      untar: whether the file is a tar archive to unpack beside it.
      file_hash: MD5 or SHA-256 of the file, in hexadecimal digits.
      extract: whether to unpack an archive of any kind.
    """
    folder = os.path.join(
        os.path.expanduser(cache_dir or os.path.join("~", ".keras")), cache_subdir
    )
    path = os.path.join(folder, fname)
    archive = f"{path}.tar.gz" if untar else path
    digest = file_hash or md5_hash
    if not _is_expected(archive, digest, hash_algorithm):
        if _local_file(origin) is not None or not os.path.exists(path):
            os.makedirs(folder, exist_ok=True)
            _fetch(origin, archive)
        if os.path.exists(archive) and not _is_expected(archive, digest, hash_algorithm):
            raise OSError(f"{archive} is not the expected file: its hash is not {digest}")
    if untar:
        if not os.path.exists(path):
            _unpack(archive, folder)
        return path
    if extract:
        _unpack(archive, folder)
    return path


def _is_expected(path: str, digest: str | None, hash_algorithm: str) -> bool:
    return os.path.isfile(path) and (digest is None or validate_file(path, digest, hash_algorithm))


def _local_file(origin: str) -> str | None:
    """The file on this machine that an address means, if it does."""
    address = urlparse(origin)
    local = address.path if address.scheme == "file" else origin
    return local if address.scheme in ("", "file") and os.path.isfile(local) else None


def _fetch(origin: str, path: str) -> None:
    local = _local_file(origin)
    if local is not None:
        if not (os.path.exists(path) and os.path.samefile(local, path)):
            shutil.copyfile(local, path)
        return
    raise OSError(
        f"{path} is not there, and Penstock does not download files: get {origin} and put it there"
    )


def _hash_file(fpath: str, algorithm: str = "sha256", chunk_size: int = 65535) -> str:
    """The hash of a file in hexadecimal digits; "auto" is SHA-256, too."""
    by_sha = algorithm in ("sha256", "auto")
    found = hashlib.sha256() if by_sha else hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while block := file.read(chunk_size):
            found.update(block)
    return found.hexdigest()


def validate_file(
    fpath: str, file_hash: str, algorithm: str = "auto", chunk_size: int = 65535
) -> bool:
    """Whether a file has this hash: MD5 or SHA-256, by its length if not said otherwise."""
    by_sha = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return _hash_file(fpath, "sha256" if by_sha else "md5", chunk_size) == file_hash


def _unpack(path: str, folder: str) -> None:
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
