"""What is told of a device to others: its DeviceAttributes message."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from penstock import proto
from penstock.runtime.device import Device

# What TensorFlow says of a CPU, whose memory it doesn't limit.
_CPU_MEMORY = 256 << 20


@cache
def _incarnation(name: str) -> int:
    """A number that tells this process's device from one of the same name in another process."""
    return random.SystemRandom().getrandbits(63) | 1


def _describe_gpu(message: Any, device: Device) -> None:
    """Adds what torch knows of the card."""
    number = device.torch_device.index
    card = torch.cuda.get_device_properties(number)
    fraction = torch.cuda.get_per_process_memory_fraction(number)
    message.memory_limit = int(card.total_memory * fraction)
    message.locality.bus_id = 1
    message.locality.links.SetInParent()
    # Of older torches nobody can learn it.
    domain, bus, slot = (getattr(card, f"pci_{part}_id", 0) for part in ("domain", "bus", "device"))
    message.physical_device_desc = (
        f"device: {number}, name: {card.name}, "
        f"pci bus id: {domain:04x}:{bus:02x}:{slot:02x}.0, "
        f"compute capability: {card.major}.{card.minor}"
    )


def device_attributes(devices: Sequence[Device]) -> list[Any]:
    """The DeviceAttributes messages of a runtime's devices."""
    found = []
    for device in devices:
        message = proto.DeviceAttributes(
            name=device.name,
            device_type=device.device_type,
            memory_limit=_CPU_MEMORY if device.kind is None else device.kind.memory_limit,
            incarnation=_incarnation(device.name),
        )
        message.locality.SetInParent()
        if device.torch_device.type == "cuda":
            _describe_gpu(message, device)
        found.append(message)
    return found
