"""`tf.contrib.labeled_tensor`: tensors whose axes have names and labels."""

from penstock.contrib import lazy_paths
from penstock.contrib.labeled_tensor import nn
from penstock.contrib.labeled_tensor.axes import Axes, Axis, as_axis, concat_axes
from penstock.contrib.labeled_tensor.computing import (
    batch,
    cast,
    define_reduce_op,
    foldl,
    map_fn,
    matmul,
    ones_like,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    shuffle_batch,
    verify_tensor_all_finite,
    zeros_like,
)
from penstock.contrib.labeled_tensor.elementwise import abs_function as abs
from penstock.contrib.labeled_tensor.elementwise import (
    acos,
    add,
    asin,
    atan,
    ceil,
    cos,
    digamma,
    div,
    equal,
    erf,
    erfc,
    exp,
    floor,
    greater,
    greater_equal,
    igamma,
    igammac,
    less,
    less_equal,
    lgamma,
    log,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    not_equal,
    polygamma,
    reciprocal,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sqrt,
    square,
    squared_difference,
    sub,
    tan,
    tanh,
    zeta,
)
from penstock.contrib.labeled_tensor.elementwise import pow_function as pow
from penstock.contrib.labeled_tensor.elementwise import round_function as round
from penstock.contrib.labeled_tensor.parsing import (
    FixedLenFeature,
    parse_example,
    parse_single_example,
    placeholder,
)
from penstock.contrib.labeled_tensor.shaping import (
    boolean_mask,
    concat,
    constant,
    pack,
    pad,
    random_crop,
    rename_axis,
    reshape,
    select,
    squeeze,
    tile,
    unpack,
    where,
)
from penstock.contrib.labeled_tensor.sugar import ReshapeCoder
from penstock.contrib.labeled_tensor.tensors import (
    AxisOrderError,
    LabeledTensor,
    align,
    axis_order_scope,
    check_axis_order,
    convert_to_labeled_tensor,
    define_binary_op,
    define_unary_op,
    expand_dims,
    get_axis_order,
    identity,
    impose_axis_order,
    transpose,
)
from penstock.contrib.labeled_tensor.tensors import slice_function as slice

__getattr__ = lazy_paths.resolver(__name__)
