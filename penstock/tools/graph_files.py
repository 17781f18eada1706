"""Messages in files, binary or text, for the tools that read and write graphs."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

import penstock as tf
from penstock import gfile
from penstock.proto import POOL

__all__ = ["read_message", "write_message"]


def read_message(filename: str, message: Any, *, binary: bool) -> Any:
    """Fills a message from a file; an error that names the file if it holds something else."""
    if not gfile.Exists(filename):
        raise tf.errors.NotFoundError(None, None, f"Input file '{filename}' does not exist!")
    with gfile.GFile(filename, "rb") as file:
        content = file.read()
    kind = message.DESCRIPTOR.name
    try:
        if binary:
            message.ParseFromString(content)
        else:
            text_format.Merge(content.decode(), message, descriptor_pool=POOL)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError, RuntimeError) as error:
        form = "binary" if binary else "text"
        raise OSError(f"Cannot parse file {filename} as a {form} {kind}: {error}.") from None
    return message


def write_message(filename: str, message: Any, *, binary: bool) -> None:
    """Writes a message to a file."""
    content = message.SerializeToString() if binary else text_format.MessageToString(message)
    with gfile.GFile(filename, "wb") as file:
        file.write(content if binary else content.encode())
