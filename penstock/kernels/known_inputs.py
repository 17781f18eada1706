"""Inputs that say how to compute rather than what: axes, sizes, permutations.

They are constants in almost every graph. Then their numbers are read once, when the plan is made;
else in every step.
"""

import math

from penstock.kernels.values import is_host_type


def known_list(node, env, index):
    """The numbers of a constant input, nested as its dimensions are; None where it is computed."""
    value = env.constant(node, index)
    return None if value is None else value.tolist()


def known_number(node, env, index):
    """The number that a constant input of one element holds; None for any other input."""
    value = env.constant(node, index)
    return None if value is None or math.prod(value.shape) != 1 else value.item()


def is_text(node, index=0):
    """Whether an input is a NumPy array of strings rather than a torch tensor."""
    return is_host_type(node.inputs[index].dtype)
