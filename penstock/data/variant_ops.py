"""`data.util.traverse`: the operations that a dataset is made by."""

from __future__ import annotations

from collections import deque
from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation


def obtain_all_variant_tensor_ops(dataset: Any) -> list[Operation]:
    """The operations behind a dataset that make variants: datasets, and what they are made of."""
    last = dataset._variant_tensor._op
    seen, waiting, found = {last}, deque([last]), []
    while waiting:
        op = waiting.popleft()
        if op.outputs[0].dtype == dtypes.variant:
            found.append(op)
        for tensor in op.inputs:
            if tensor._op not in seen:
                seen.add(tensor._op)
                waiting.append(tensor._op)
    return found
