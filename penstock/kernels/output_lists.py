"""Ops with a list of outputs: how many they are is a matter of the node."""


def as_outputs(node, run):
    """A function that returns a list, as the registry wants it: one output is no list."""
    if len(node.dtypes) != 1:
        return run
    return lambda *inputs: run(*inputs)[0]
