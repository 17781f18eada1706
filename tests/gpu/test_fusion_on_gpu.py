"""Regions compiled with Triton, alone and inside of recorded steps."""

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.runtime.fusion import inductor, regions
from tests.runtime.test_fusion import SOON, heated, regions_of

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore"),  # of torch's own modules
]


@pytest.mark.parametrize("recorded", [False, True])
def test_values(recorded, monkeypatch):
    if missing := inductor.missing_compiler("cuda"):
        pytest.skip(f"needs {missing}")
    monkeypatch.setattr(regions, "_ratio", lambda made, plain, inputs: 0.5)
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    monkeypatch.setenv("PENSTOCK_CUDA_GRAPHS", "1" if recorded else "0")
    data = np.random.default_rng(0).standard_normal([64, 512]).astype(np.float32)
    outcomes = []
    for config in (SOON, None):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [64, 512])
            w = tf.Variable(np.linspace(-1, 1, 512, dtype=np.float32))
            y = tf.tanh(x * w) * tf.sigmoid(x + w) + tf.exp(-tf.square(x))
            loss = tf.reduce_mean(y, axis=1)
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                step, _ = heated(session, [loss, train], {x: data})
                found = [session.run([loss, train], {x: data})[0] for _ in range(30)]
                outcomes.append([*found, session.run(w)])
                if config is SOON:
                    assert regions_of(step)
    for mine, theirs in zip(*outcomes, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
