"""TensorFlow as its papers describe it, on today's kernels: `import penstock as tf`."""

from penstock import (
    bitwise,
    debugging,
    errors,
    initializers,
    internal_paths,
    layers,
    losses,
    math,
    metrics,
    namespaces,
    nest,
    nn,
    ops,
    random,
    raw_ops,
    sets,
    sparse,
    strings,
    summary,
    train,
)
from penstock.autodiff.aggregation import AggregationMethod
from penstock.autodiff.gradients import UnconnectedGradients, gradients
from penstock.autodiff.hessians import hessians
from penstock.autodiff.registration import (
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    custom_gradient,
    grad_pass_through,
    recompute_grad,
)
from penstock.client import computing_ahead as _computing_ahead
from penstock.client import concrete_calls as _concrete_calls
from penstock.client.explain import explain
from penstock.client.session import InteractiveSession, Session
from penstock.devices import DeviceSpec
from penstock.dtypes import (
    QUANTIZED_DTYPES,
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
from penstock.execution_modes import *
from penstock.functional import foldl, foldr, map_fn, scan
from penstock.gradient_tape import GradientTape
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from penstock.ir.conversion_status import set_converter as _set_converter
from penstock.ir.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.ir.defaults import get_default_graph, get_default_session, reset_default_graph
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def
from penstock.ir.indexed_slices_spec import IndexedSlicesSpec
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.module import Module
from penstock.old_names import *
from penstock.ops.accumulators import *
from penstock.ops.array import *
from penstock.ops.batching import batch_function as nondifferentiable_batch_function
from penstock.ops.bounds import *
from penstock.ops.conditionals import *
from penstock.ops.confusion import *
from penstock.ops.constants import *
from penstock.ops.control import *
from penstock.ops.critical_sections import *
from penstock.ops.debugging import *
from penstock.ops.decoding import *
from penstock.ops.decompositions import *
from penstock.ops.edit_distance import *
from penstock.ops.fake_quantization import *
from penstock.ops.feature_specs import *
from penstock.ops.files import *
from penstock.ops.fourier import *
from penstock.ops.graph_functions import function
from penstock.ops.image_patches import extract_image_patches
from penstock.ops.indexed_slices import convert_to_tensor_or_indexed_slices
from penstock.ops.initializers import *
from penstock.ops.least_squares import *
from penstock.ops.linear_systems import *
from penstock.ops.lookup_tables import *
from penstock.ops.loops import *
from penstock.ops.math import *
from penstock.ops.matrix_functions import *
from penstock.ops.numerics import *
from penstock.ops.old_summaries import *
from penstock.ops.orthogonal_initializers import *
from penstock.ops.parsing import *
from penstock.ops.partitioners import *
from penstock.ops.printing import *
from penstock.ops.quantization import *
from penstock.ops.quantized import quantized_concat
from penstock.ops.queues import *
from penstock.ops.random import *
from penstock.ops.rank_assertions import *
from penstock.ops.readers import *
from penstock.ops.regex import *
from penstock.ops.repeating import *
from penstock.ops.rolling import *
from penstock.ops.script import *
from penstock.ops.seeds import *
from penstock.ops.session_handles import *
from penstock.ops.sorting import *
from penstock.ops.sparse_arithmetic import *
from penstock.ops.sparse_conversion import *
from penstock.ops.sparse_matmul import *
from penstock.ops.sparse_reductions import *
from penstock.ops.sparse_serialization import *
from penstock.ops.sparse_structure import *
from penstock.ops.sparse_tensors import *
from penstock.ops.sparse_to_dense import *
from penstock.ops.spectral_decompositions import *
from penstock.ops.string_hashing import *
from penstock.ops.string_joining import *
from penstock.ops.string_numbers import *
from penstock.ops.string_splitting import *
from penstock.ops.strings import *
from penstock.ops.templates import *
from penstock.ops.tensor_array import *
from penstock.ops.tensor_array_spec import TensorArraySpec
from penstock.ops.tensor_values import *
from penstock.ops.type_assertions import *
from penstock.ops.value_assertions import *
from penstock.ops.variable_collections import *
from penstock.ops.variable_creation import *
from penstock.ops.variable_scope import *
from penstock.ops.variable_updates import *
from penstock.ops.variables import *
from penstock.ops.volume_patches import extract_volume_patches
from penstock.parallel_loops import vectorized_map
from penstock.platform.logging import get_logger
from penstock.platform.versions import *
from penstock.printing import print
from penstock.proto import (
    AttrValue,
    ConfigProto,
    Event,
    GPUOptions,
    GraphDef,
    GraphOptions,
    HistogramProto,
    LogMessage,
    MetaGraphDef,
    NameAttrList,
    NodeDef,
    OptimizerOptions,
    RunMetadata,
    RunOptions,
    SessionLog,
    Summary,
    SummaryMetadata,
    TensorInfo,
)
from penstock.shapes import Dimension, TensorShape, dimension_at_index, dimension_value
from penstock.wrapped_functions import wrap_function

__version__ = "0.1.0"

no_gradient = NotDifferentiable

_set_converter("penstock.autograph.calls")
internal_paths.install()
namespaces.install()
