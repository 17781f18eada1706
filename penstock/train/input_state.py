"""The state of a pipeline of queues and readers, for savers."""

from __future__ import annotations

from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.train.saveables import SaveableObject, queue_saveable, reader_saveable

_QUEUES = ("FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2")
_READERS = (
    "FixedLengthRecordReaderV2",
    "IdentityReaderV2",
    "TFRecordReaderV2",
    "TextLineReaderV2",
    "WholeFileReaderV2",
)


def input_saveables(graph: Graph | None = None) -> list[SaveableObject]:
    """What a `tf.train.Saver` needs to save all queues and readers of a graph.

    With the variables, the local ones too (they count epochs), a program goes on exactly where it
    was saved:

    >>> state = tf.global_variables() + tf.local_variables() + tf.train.input_saveables()
    >>> saver = tf.train.Saver(state)

    Args:
      graph: the graph; the default graph if None.
    """
    graph = graph or get_default_graph()
    kinds = dict.fromkeys(_QUEUES, queue_saveable) | dict.fromkeys(_READERS, reader_saveable)
    with graph.as_default():
        return [kinds[op.type](op.outputs[0]) for op in graph.get_operations() if op.type in kinds]
