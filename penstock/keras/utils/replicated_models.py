"""`tf.keras.utils.multi_gpu_model`: a model on several GPUs, each with a part of the batch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import penstock as tf
from penstock.keras import backend as K

__all__ = ["multi_gpu_model"]


def _get_available_devices() -> list[str]:
    return [device.name for device in K.get_session().list_devices()]


def _normalize_device_name(name: str) -> str:
    return "/" + name.lower().split("device:")[1]


def multi_gpu_model(
    model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False
) -> Any:
    """A model that runs copies of a model, with the same weights, on parts of each batch.

    Args:
      gpus: how many GPUs to use, or their numbers; at least two.
      cpu_merge: whether the outputs are joined on the CPU.
      cpu_relocation: whether the weights are made anew on the CPU.
    """
    from penstock.keras.layers import Lambda, concatenate
    from penstock.keras.models import Model, clone_model

    numbers = _gpu_numbers(gpus)
    _check_devices(gpus, numbers)
    if cpu_relocation:
        with tf.device("/cpu:0"):
            model = clone_model(model)
    parts: list[list[Any]] = [[] for _ in model.outputs]
    for index, number in enumerate(numbers):
        with tf.device(f"/gpu:{number}"), K.name_scope(f"replica_{number}"):
            inputs = [
                Lambda(
                    _slice_of_batch,
                    output_shape=tuple(x.shape.as_list())[1:],
                    arguments={"i": index, "parts": len(numbers)},
                )(x)
                for x in model.inputs
            ]
            outputs = model(inputs)
            for part, output in zip(parts, tf.nest.flatten(outputs), strict=True):
                part.append(output)
    with tf.device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        names = _distinct(model.output_names)
        merged = [
            concatenate(part, axis=0, name=name) for name, part in zip(names, parts, strict=True)
        ]
        return Model(model.inputs, merged)


def _gpu_numbers(gpus: Any) -> list[int]:
    is_list = isinstance(gpus, (list, tuple))
    numbers = list(gpus) if is_list else list(range(gpus))
    if len(numbers) <= 1:
        wanted = "`len(gpus) >= 2`" if is_list else "`gpus >= 2`"
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with {wanted}. Received: "
            f"`gpus={gpus}`"
        )
    return numbers


def _check_devices(gpus: Any, numbers: list[int]) -> None:
    needed = ["/cpu:0", *(f"/gpu:{number}" for number in numbers)]
    present = [_normalize_device_name(name) for name in _get_available_devices()]
    if not set(needed) <= set(present):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be "
            f"available: {needed}. However this machine only has: {present}. Try reducing `gpus`."
        )


def _slice_of_batch(data: Any, i: int, parts: int) -> Any:
    """The i-th part of a batch; the last one takes what is left over."""
    step = tf.shape(data)[0] // parts
    return data[i * step :] if i == parts - 1 else data[i * step : (i + 1) * step]


def _distinct(names: list[str]) -> list[str]:
    """Output names, with numbers where several are alike."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}_{seen[name]}" if counts[name] > 1 else name)
    return found
