"""How a tensor bundle takes its name: at every moment there is a whole checkpoint, old or new.

A bundle is an index and the data files that it refers to, and a file system replaces one file at a
time. So the data gets names that the present index does not refer to; then the new index replaces
the old one, which is the one step that counts. The names of data files hold their number
(`-00000-of-00001`), and a reader takes that number from the index: another number is another name.
"""

from __future__ import annotations

import errno
import glob
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from penstock import errors
from penstock.checkpoint import disk
from penstock.checkpoint.files import NewFile, make_directory, remove_if_possible
from penstock.checkpoint.table import TableReader, TableWriter
from penstock.platform.file_errors import file_errors
from penstock.proto import BundleHeaderProto

HEADER_KEY = b""
# Two threads of a program may save under one name at a time (a Supervisor does, beside the program
# itself): each works with the names that the other would rename or remove.
_publishing = threading.Lock()
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


def index_path(prefix: str) -> str:
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def publish(prefix: str, staged: Sequence[str], header: Any, entries: Mapping[bytes, Any]) -> None:
    """Makes a checkpoint of data files that lie aside, one for each shard, and their entries.

    A crash, or an error, leaves either the checkpoint that was there or the new one.
    """
    make_directory(os.path.dirname(prefix))
    with _publishing:
        _publish(prefix, staged, header, entries)


def _publish(prefix: str, staged: Sequence[str], header: Any, entries: Mapping[bytes, Any]) -> None:
    shards = header.num_shards
    previous = _shards_of(prefix)
    if previous != shards:
        names = [data_path(prefix, shard, shards) for shard in range(len(staged))]
        _switch(prefix, list(zip(staged, names, strict=True)), header, entries)
        if previous is not None:
            _remove_data(prefix, previous)
        return
    spare = shards + 1
    spare_names = [data_path(prefix, shard, spare) for shard in range(len(staged))]
    spare_header = BundleHeaderProto()
    spare_header.CopyFrom(header)
    spare_header.num_shards = spare
    _switch(prefix, list(zip(staged, spare_names, strict=True)), spare_header, entries)
    # The new checkpoint is there. The rest gives its data the usual names.
    try:
        linked = _link_aside(spare_names)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return
        with file_errors(prefix):
            raise
    names = [data_path(prefix, shard, shards) for shard in range(len(staged))]
    _switch(prefix, list(zip(linked, names, strict=True)), header, entries)
    _remove_data(prefix, spare)


def _shards_of(prefix: str) -> int | None:
    """How many data files the checkpoint at a prefix has; None if there is none to preserve."""
    if not os.path.exists(index_path(prefix)):
        return None
    try:
        value = TableReader(index_path(prefix)).get(HEADER_KEY)
        return int(BundleHeaderProto.FromString(value or b"").num_shards)
    except (errors.OpError, ValueError):
        return None


def _link_aside(paths: Sequence[str]) -> list[str]:
    linked: list[str] = []
    try:
        for path in paths:
            aside = f"{path}.tempstate"
            remove_if_possible(aside)
            disk.current.link(path, aside)
            linked.append(aside)
    except BaseException:
        for aside in linked:
            remove_if_possible(aside)
        raise
    return linked


def _switch(
    prefix: str, moves: Sequence[tuple[str, str]], header: Any, entries: Mapping[bytes, Any]
) -> None:
    """Renames data files to names that no index refers to, then puts the index in place."""
    index = None
    try:
        index = NewFile(index_path(prefix))
        _write_table(index, header, entries)
        aside = index.finish()
        for source, target in moves:
            with file_errors(target):
                disk.current.rename(source, target)
        with file_errors(index.path):
            disk.current.sync_directory(os.path.dirname(prefix))
            disk.current.rename(aside, index.path)
    except BaseException:
        if index is not None:
            index.discard()
        for source, target in moves:
            remove_if_possible(target if not os.path.exists(source) else source)
        raise
    with file_errors(index.path):
        disk.current.sync_directory(os.path.dirname(prefix))


def _write_table(file: NewFile, header: Any, entries: Mapping[bytes, Any]) -> None:
    writer = TableWriter(file)
    writer.add(HEADER_KEY, header.SerializeToString(deterministic=True))
    for key in sorted(entries):
        writer.add(key, entries[key].SerializeToString(deterministic=True))
    writer.finish()


def _remove_data(prefix: str, shards: int) -> None:
    for path in glob.glob(f"{glob.escape(prefix)}.data-?????-of-{shards:05d}"):
        remove_if_possible(path)
