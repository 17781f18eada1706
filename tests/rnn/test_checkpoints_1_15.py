"""Checkpoints of RNNs that TensorFlow 1.15 wrote: same names and layouts, so the same outputs."""

import json
import pathlib

import numpy as np
import pytest

import penstock as tf
from tests.rnn import checkpointed_networks as networks

DATA = pathlib.Path(__file__).with_name("checkpoints_1_15")
RESULTS = json.loads((DATA / "results.json").read_text())


def test_all_networks_are_recorded():
    assert sorted(RESULTS) == sorted(networks.NETWORKS)


def _whole(variable):
    """The name and shape under which a variable, or what it is a part of, is stored."""
    part = variable._get_save_slice_info()
    if part is None:
        return variable.op.name, variable.shape.as_list()
    return part.full_name, list(part.full_shape)


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_outputs_from_a_checkpoint(name):
    with tf.Graph().as_default(), tf.Session() as session:
        result = networks.parts(networks.NETWORKS[name](tf, tf.constant(networks.inputs())))
        stored = dict(tf.train.list_variables(str(DATA / name)))
        assert dict(map(_whole, tf.global_variables())) == stored
        tf.train.Saver().restore(session, str(DATA / name))
        for found, expected in zip(session.run(result), RESULTS[name], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
