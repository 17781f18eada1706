"""The words of a spec: layers and functions by short names."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.specs import composition
from penstock.contrib.specs.composition import Callable, Composable, Function

__all__ = [
    "Ap",
    "Bn",
    "Cl",
    "Cm",
    "Conc",
    "Cr",
    "Cs",
    "Ct",
    "Cx",
    "Do",
    "Dwm",
    "Dws",
    "Expand",
    "External",
    "Fl",
    "Flat",
    "Fm",
    "Fr",
    "Fs",
    "Ft",
    "Fun",
    "Fx",
    "Id",
    "Idx",
    "Import",
    "Lrn",
    "Mp",
    "Print",
    "Relu",
    "Reshape",
    "Shared",
    "Sig",
    "Smax",
    "Squeeze",
    "Tanh",
    "Transpose",
    "Unit",
    "Var",
    "debug",
]

External = composition.External
Import = composition.Import
debug = composition.debug


class Idx(Composable):
    """The input itself."""

    def funcall(self, x: Any) -> Any:
        return x


class Conc(Composable):
    """The results of several functions, one behind the other along a dimension."""

    def __init__(self, dim: int, *args: Composable):
        self.dim = dim
        self.funs = args

    def funcall(self, x: Any) -> tf.Tensor:
        return tf.concat([each.funcall(x) for each in self.funs], self.dim)


Fun = Function
Print = Fun(tf.Print)
Id = Fun(tf.identity)

# Convolutions and dense layers: the last letter is the activation.
Cx = Fun(layers.conv2d)
Cs = Fun(layers.conv2d, activation_fn=tf.sigmoid)
Ct = Fun(layers.conv2d, activation_fn=tf.tanh)
Cr = Fun(layers.conv2d, activation_fn=tf.nn.relu)
Cm = Fun(layers.conv2d, activation_fn=tf.nn.softmax)
Cl = Fun(layers.conv2d, activation_fn=None)
Fx = Fun(layers.fully_connected)
Fs = Fun(layers.fully_connected, activation_fn=tf.sigmoid)
Ft = Fun(layers.fully_connected, activation_fn=tf.tanh)
Fr = Fun(layers.fully_connected, activation_fn=tf.nn.relu)
Fm = Fun(layers.fully_connected, activation_fn=tf.nn.softmax)
Fl = Fun(layers.fully_connected, activation_fn=None)

Mp = Fun(layers.max_pool2d)
Ap = Fun(layers.avg_pool2d)

Do = Fun(layers.dropout)
Bn = Fun(layers.batch_norm)
Lrn = Fun(tf.nn.local_response_normalization)
Unit = Fun(layers.unit_norm)

Flat = Fun(layers.flatten)
Reshape = Fun(tf.reshape)
Transpose = Fun(tf.transpose)
Squeeze = Fun(tf.squeeze)
Expand = Fun(tf.expand_dims)

Relu = Fun(tf.nn.relu)
Sig = Fun(tf.sigmoid)
Tanh = Fun(tf.tanh)
Smax = Fun(tf.nn.softmax)


def Dws(n: int) -> Function:
    """A convolution of single pixels with a sigmoid."""
    return Cs(n, [1, 1])


def Dwm(n: int) -> Function:
    """A convolution of single pixels with a softmax."""
    return Cm(n, [1, 1])


def Var(name: str, *args: Any, **kw: Any) -> Callable:
    """A variable, whatever the input is; the arguments are those of `tf.get_variable`."""
    return Callable(lambda _: tf.get_variable(name, *args, **kw))


class Shared(Composable):
    """A part of a network whose variables are the same wherever it is used.

    Args:
      scope: a variable scope that the part's variables are in; else it gets one of its own.
    """

    shared_number = 1

    def __init__(
        self, subnet: Composable, name: str | None = None, scope: tf.VariableScope | None = None
    ):
        if scope is not None and not isinstance(scope, tf.VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if scope is not None and name is not None:
            raise ValueError("cannot provide both a name and a scope")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        elif not isinstance(name, str):
            raise ValueError("name must be None or a string")
        self.subnet = subnet
        self.name = name
        self.scope = scope

    def funcall(self, x: Any) -> Any:
        if self.scope is not None:
            with tf.variable_scope(self.scope, values=[x], reuse=True):
                return self.subnet.funcall(x)
        with tf.variable_scope(self.name, values=[x]) as scope:
            self.scope = scope
            return self.subnet.funcall(x)
