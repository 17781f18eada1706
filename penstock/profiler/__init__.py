"""`tf.profiler`: the parameters, floating point operations and times of a graph."""

from penstock.profiler.model_analyzer import Profiler, advise, profile, write_op_log
from penstock.profiler.option_builder import ProfileOptionBuilder
from penstock.proto import AdviceProto, GraphNodeProto, MultiGraphNodeProto, OpLogProto

__all__ = [
    "AdviceProto",
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "OpLogProto",
    "ProfileOptionBuilder",
    "Profiler",
    "advise",
    "profile",
    "write_op_log",
]
