"""How cuDNN chooses its algorithms, as TensorFlow's environment variables say."""

from __future__ import annotations

import os

import torch


def configure_cudnn() -> None:
    """Lets cuDNN measure which algorithm is fastest for a convolution, when it first meets it.

    `TF_CUDNN_USE_AUTOTUNE=0` takes its first guess instead; with `TF_CUDNN_DETERMINISTIC=1` or
    `TF_DETERMINISTIC_OPS=1` it uses none whose results differ from run to run.
    """
    deterministic = _is_on("TF_CUDNN_DETERMINISTIC") or _is_on("TF_DETERMINISTIC_OPS")
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.cudnn.benchmark = _is_on("TF_CUDNN_USE_AUTOTUNE", "1") and not deterministic


def _is_on(name: str, default: str = "0") -> bool:
    return os.environ.get(name, default).lower() in ("1", "true")
