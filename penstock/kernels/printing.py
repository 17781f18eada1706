"""The kernels of `tf.print` and `tf.timestamp`."""

import sys
import time

import torch

from penstock.kernels.registry import HOST, kernel
from penstock.platform import logging


def _text(value):
    value = value.item() if hasattr(value, "item") else value
    return value.decode("utf-8", "replace")


@kernel("PrintV2", devices=HOST)
def _(node):
    stream, end = (_as_text(node.attrs[key]) for key in ("output_stream", "end"))
    if stream.startswith("file://"):
        return lambda line: _append(stream.removeprefix("file://"), _text(line) + end)
    if stream in ("stdout", "stderr"):
        return lambda line: _write(getattr(sys, stream), _text(line) + end)
    log = {
        "log(info)": logging.info,
        "log(warning)": logging.warning,
        "log(error)": logging.error,
    }[stream]
    return lambda line: log("%s", _text(line))


def _as_text(value):
    return value.decode() if isinstance(value, bytes) else value


def _write(file, text):
    file.write(text)
    file.flush()


def _append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


@kernel("Timestamp", devices=HOST, fresh=True)
def _(node):
    return lambda: torch.tensor(time.time(), dtype=torch.float64)
