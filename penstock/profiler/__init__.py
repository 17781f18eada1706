"""`tf.profiler`: the parameters, floating point operations and times of a graph."""

from penstock.profiler.model_analyzer import Profiler, profile, write_op_log
from penstock.profiler.option_builder import ProfileOptionBuilder
from penstock.proto import GraphNodeProto, MultiGraphNodeProto, OpLogProto

__all__ = [
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "OpLogProto",
    "ProfileOptionBuilder",
    "Profiler",
    "profile",
    "write_op_log",
]
