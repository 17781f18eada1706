"""Exchanges of tensors between processes, by torch.distributed: Gloo on CPUs, NCCL on GPUs.

A process group is made for each collective group, and never torch's default one, which belongs to
the user's program.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

_OPERATIONS = {
    "Add": dist.ReduceOp.SUM,
    "Mul": dist.ReduceOp.PRODUCT,
    "Max": dist.ReduceOp.MAX,
    "Min": dist.ReduceOp.MIN,
}
#: All tasks are ready when an exchange begins: what takes longer than this is no progress.
_PATIENCE = timedelta(seconds=600)
_START = timedelta(seconds=60)


class AddressStore:
    """Where the processes of a group find each other's addresses; this end listens."""

    def __init__(self, host: str):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, 0), family=family)
        self.port: int = listener.getsockname()[1]
        self._store = dist.TCPStore(
            host_name=host,
            port=self.port,
            world_size=None,
            is_master=True,
            timeout=_START,
            wait_for_workers=False,
            master_listen_fd=listener.detach(),
        )


class ProcessGroup:
    """The exchanges of one group, which all its processes call in the same order.

    Args:
      backend: "gloo" or "nccl".
      store: the host and port of its `AddressStore`.
      name: tells the group from others with the same store.
      rank, size: this process's number, and how many there are.
      host: the own address that others reach.
      place: where this process has its values; the CPU if None.
    """

    def __init__(
        self,
        backend: str,
        store: tuple[str, int],
        name: str,
        rank: int,
        size: int,
        host: str,
        place: torch.device | None = None,
    ):
        found = dist.TCPStore(
            host_name=store[0],
            port=store[1],
            world_size=None,
            is_master=False,
            timeout=_START,
            wait_for_workers=False,
        )
        self._on_gpu = backend == "nccl"
        self._place = (place if self._on_gpu else None) or torch.device("cpu")
        self._group = _made(backend, dist.PrefixStore(name, found), rank, size, host)

    def reduce(self, value: torch.Tensor, merge_op: str) -> torch.Tensor:
        """The sum, product, maximum or minimum over the processes."""
        whole = self._own(value)
        options = dist.AllreduceOptions()
        options.reduceOp = _OPERATIONS[merge_op]
        self._group.allreduce([whole], options).wait()
        return whole

    def gather(self, value: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
        """The values of all processes, of which each has so many rows, one after the other."""
        mine = self._own(value)
        parts = [mine.new_empty((count, *mine.shape[1:])) for count in rows]
        if len(set(rows)) == 1:
            self._group.allgather(parts, mine).wait()
        else:
            parts[self._group.rank()] = mine
            for root, part in enumerate(parts):
                self._broadcast(part, root)
        return torch.cat(parts)

    def broadcast(
        self, value: torch.Tensor | None, like: tuple[tuple[int, ...], torch.dtype], root: int
    ) -> torch.Tensor:
        """The value of one process, in the others of this shape and type."""
        shape, dtype = like
        if value is None:
            whole = torch.empty(shape, dtype=dtype, device=self._place)
        else:
            whole = self._own(value)
        self._broadcast(whole, root)
        return whole

    def _broadcast(self, value: torch.Tensor, root: int) -> None:
        options = dist.BroadcastOptions()
        options.rootRank = root
        options.rootTensor = 0
        carried = value.view(torch.uint8) if value.dtype is torch.bool else value
        self._group.broadcast([carried], options).wait()

    def _own(self, value: torch.Tensor) -> torch.Tensor:
        """A copy in the memory that the backend works on."""
        return value.to(self._place, copy=True).contiguous()

    def close(self) -> None:
        """Ends the connections to the other processes."""
        if self._on_gpu:  # Gloo's end with the object
            self._group.shutdown()
        del self._group


def _made(backend: str, store: Any, rank: int, size: int, host: str) -> Any:
    if backend == "nccl":
        chosen = dist.ProcessGroupNCCL.Options()
        chosen._timeout = _PATIENCE
        return dist.ProcessGroupNCCL(store, rank, size, chosen)
    options = dist.ProcessGroupGloo._Options()
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=host)]
    options._timeout = _PATIENCE
    options._threads = 1
    return dist.ProcessGroupGloo(store, rank, size, options)


def has_nccl() -> bool:
    """Whether this build of torch can use NCCL."""
    return dist.is_nccl_available()


def gpu_identity(device: torch.device | None) -> str:
    """What tells a GPU from all others, of other machines too; "" for a CPU."""
    if device is None or device.type != "cuda" or not has_nccl():
        return ""
    return str(torch.cuda.get_device_properties(device).uuid)
