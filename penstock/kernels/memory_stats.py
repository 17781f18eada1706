"""Kernels that ask a GPU's allocator. As in TensorFlow there are none for a CPU."""

import torch

from penstock.kernels.registry import kernel

_READERS = {
    "BytesInUse": torch.cuda.memory_allocated,
    "MaxBytesInUse": torch.cuda.max_memory_allocated,
    "BytesLimit": lambda device: torch.cuda.mem_get_info(device)[1],
}


@kernel(*_READERS, devices=("GPU",), fresh=True)
def _(node, env):
    read, device = _READERS[node.type], env.torch_device
    return lambda: torch.tensor(read(device), dtype=torch.int64, device=device)
