"""Sessions that run a graph node by node."""

import penstock as tf


def as_written():
    """A configuration under which no pass rewrites the graph: the executor runs its loops."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return config
