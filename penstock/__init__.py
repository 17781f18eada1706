"""TensorFlow as its papers describe it, on today's kernels: `import penstock as tf`."""

from penstock import errors, ops
from penstock.client.session import InteractiveSession, Session
from penstock.dtypes import *
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
from penstock.ops.constants import *
from penstock.ops.control import *
from penstock.proto import ConfigProto, GraphDef, RunMetadata, RunOptions
from penstock.shapes import Dimension, TensorShape
