"""Datasets among the objects of a SavedModel: functions that iterate over one can be saved."""

from __future__ import annotations

import weakref
from typing import Any

from penstock.eager.context import eager_mode
from penstock.ops.control import device
from penstock.proto import GraphDef
from penstock.train.tracking.resources import CapturableResource
from penstock.wrapped_functions import function_from_graph_def


class VariantTracker(CapturableResource):
    """The tensor of a dataset, which a loaded model makes anew from the pipeline's nodes."""

    def __init__(self, dataset: Any):
        super().__init__(device="CPU")
        self._dataset = weakref.ref(dataset)  # which owns this object
        self._resource_handle = dataset._variant_tensor

    def _create_resource(self) -> Any:
        dataset = self._dataset()
        assert dataset is not None
        if not dataset._graph.is_eager:
            raise NotImplementedError(
                "Can only export Datasets which were created executing eagerly."
            )
        with eager_mode(), device("CPU"):
            graph_def = GraphDef.FromString(dataset._as_serialized_graph().numpy())
        (last,) = [node for node in graph_def.node if node.op == "_Retval"]
        result = f"{last.input[0]}:0"
        graph_def.node.remove(last)  # which no graph of a program has
        return function_from_graph_def(graph_def, inputs=[], outputs=result)()
