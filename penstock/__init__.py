"""TensorFlow as its papers describe it, on today's kernels: `import penstock as tf`."""

from penstock import bitwise, errors, initializers, math, nn, ops, random, raw_ops, summary, train
from penstock.autodiff.aggregation import AggregationMethod
from penstock.autodiff.gradients import UnconnectedGradients, gradients
from penstock.autodiff.hessians import hessians
from penstock.autodiff.registration import (
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    custom_gradient,
)
from penstock.client.explain import explain
from penstock.client.session import InteractiveSession, Session
from penstock.devices import DeviceSpec
from penstock.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from penstock.errors import OpError
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from penstock.ir.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.ir.defaults import get_default_graph, get_default_session, reset_default_graph
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.array import *
from penstock.ops.conditionals import *
from penstock.ops.constants import *
from penstock.ops.control import *
from penstock.ops.debugging import *
from penstock.ops.initializers import *
from penstock.ops.loops import *
from penstock.ops.math import *
from penstock.ops.partitioners import *
from penstock.ops.random import *
from penstock.ops.script import *
from penstock.ops.seeds import *
from penstock.ops.sparse_to_dense import *
from penstock.ops.variable_collections import *
from penstock.ops.variable_creation import *
from penstock.ops.variable_scope import *
from penstock.ops.variable_updates import *
from penstock.ops.variables import *
from penstock.proto import (
    AttrValue,
    ConfigProto,
    GPUOptions,
    GraphDef,
    GraphOptions,
    NodeDef,
    OptimizerOptions,
    RunMetadata,
    RunOptions,
)
from penstock.shapes import Dimension, TensorShape

__version__ = "0.1.0"
