"""Elementwise functions of labeled tensors, and the operators that they are written as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.labeled_tensor.tensors import (
    LabeledTensor,
    define_binary_op,
    define_unary_op,
)

abs_function = define_unary_op("abs", tf.abs)
neg = define_unary_op("neg", tf.negative)
sign = define_unary_op("sign", tf.sign)
reciprocal = define_unary_op("reciprocal", tf.reciprocal)
square = define_unary_op("square", tf.square)
round_function = define_unary_op("round", tf.round)
sqrt = define_unary_op("sqrt", tf.sqrt)
rsqrt = define_unary_op("rsqrt", tf.rsqrt)
exp = define_unary_op("exp", tf.exp)
log = define_unary_op("log", tf.log)
ceil = define_unary_op("ceil", tf.ceil)
floor = define_unary_op("floor", tf.floor)
cos = define_unary_op("cos", tf.cos)
sin = define_unary_op("sin", tf.sin)
tan = define_unary_op("tan", tf.tan)
acos = define_unary_op("acos", tf.acos)
asin = define_unary_op("asin", tf.asin)
atan = define_unary_op("atan", tf.atan)
lgamma = define_unary_op("lgamma", tf.lgamma)
digamma = define_unary_op("digamma", tf.digamma)
erf = define_unary_op("erf", tf.erf)
erfc = define_unary_op("erfc", tf.erfc)
logical_not = define_unary_op("logical_not", tf.logical_not)
tanh = define_unary_op("tanh", tf.tanh)
sigmoid = define_unary_op("sigmoid", tf.sigmoid)

add = define_binary_op("add", tf.add)
sub = define_binary_op("sub", tf.subtract)
mul = define_binary_op("mul", tf.multiply)
div = define_binary_op("div", tf.div)
mod = define_binary_op("mod", tf.mod)
pow_function = define_binary_op("pow", tf.pow)
equal = define_binary_op("equal", tf.equal)
greater = define_binary_op("greater", tf.greater)
greater_equal = define_binary_op("greater_equal", tf.greater_equal)
not_equal = define_binary_op("not_equal", tf.not_equal)
less = define_binary_op("less", tf.less)
less_equal = define_binary_op("less_equal", tf.less_equal)
logical_and = define_binary_op("logical_and", tf.logical_and)
logical_or = define_binary_op("logical_or", tf.logical_or)
logical_xor = define_binary_op("logical_xor", tf.logical_xor)
maximum = define_binary_op("maximum", tf.maximum)
minimum = define_binary_op("minimum", tf.minimum)
squared_difference = define_binary_op("squared_difference", tf.squared_difference)
igamma = define_binary_op("igamma", tf.igamma)
igammac = define_binary_op("igammac", tf.igammac)
zeta = define_binary_op("zeta", tf.zeta)
polygamma = define_binary_op("polygamma", tf.polygamma)


def _reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda right, left: function(left, right)


def _called(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A method of a class: functions are called with the operands alone."""
    return lambda *operands: function(*operands[:count])


_UNARY = {"__abs__": abs_function, "__neg__": neg, "__invert__": logical_not}
_ARITHMETIC = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "truediv": div,
    "div": div,
    "mod": mod,
    "pow": pow_function,
}
_COMPARING = {
    "__and__": logical_and,
    "__or__": logical_or,
    "__xor__": logical_xor,
    "__lt__": less,
    "__le__": less_equal,
    "__gt__": greater,
    "__ge__": greater_equal,
}

for _name, _function in _UNARY.items():
    setattr(LabeledTensor, _name, _called(_function, 1))
for _name, _function in _COMPARING.items():
    setattr(LabeledTensor, _name, _called(_function, 2))
for _name, _function in _ARITHMETIC.items():
    setattr(LabeledTensor, f"__{_name}__", _called(_function, 2))
    setattr(LabeledTensor, f"__r{_name}__", _reflected(_function))
