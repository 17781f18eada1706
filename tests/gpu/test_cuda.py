"""What needs a real GPU: memory, devices and their messages, files that cross between devices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from tests.gpu.programs import ON_HOST, PROGRAMS, learned

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _run_alone(program: str) -> str:
    """What a program prints that has a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Training -------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS)
def test_training_is_that_of_the_host(program: str) -> None:
    ours = learned(PROGRAMS[program], lambda: tf.train.MomentumOptimizer(0.1, 0.9))
    theirs = learned(PROGRAMS[program], lambda: tf.train.MomentumOptimizer(0.1, 0.9), ON_HOST)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("draw", [tf.random_uniform, tf.random_normal, tf.truncated_normal])
def test_seeded_numbers_are_those_of_the_host(draw: Any) -> None:
    with tf.Graph().as_default():
        drawn = draw([1000], seed=5)
        with tf.Session() as gpu, tf.Session(config=ON_HOST) as host:
            np.testing.assert_allclose(gpu.run(drawn), host.run(drawn), rtol=1e-6, atol=1e-7)


# Out of range ---------------------------------------------------------------------------------


def test_bad_indices_leave_the_device_usable(session: Any) -> None:
    fed = tf.placeholder(tf.int32, [3])
    params = tf.constant([[1.0], [2.0]])
    variable = tf.Variable([[1.0], [2.0]], use_resource=True)
    session.run(variable.initializer)
    indices = {fed: [1, 2, -1]}
    np.testing.assert_array_equal(session.run(tf.gather(params, fed), indices), [[2], [0], [0]])
    np.testing.assert_array_equal(session.run(variable.sparse_read(fed), indices), [[2], [0], [0]])
    update = tf.scatter_update(variable, fed, [[5.0], [6.0], [7.0]])
    np.testing.assert_array_equal(session.run(update, indices), [[1], [5]])
    total = tf.unsorted_segment_sum(tf.constant([1.0, 2.0, 4.0]), fed, 2)
    np.testing.assert_array_equal(session.run(total, indices), [0, 1])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=fed, logits=tf.zeros([3, 2]))
    assert np.isnan(session.run(loss, indices)).tolist() == [False, True, True]


def test_of_equal_indices_the_last_counts(session: Any) -> None:
    variable = tf.Variable(tf.zeros([3]))
    session.run(variable.initializer)
    update = tf.scatter_update(variable, [1] * 100, tf.range(100.0))
    np.testing.assert_array_equal(session.run(update), [0, 99, 0])


# Memory ---------------------------------------------------------------------------------------


def test_out_of_memory(session: Any) -> None:
    weights = tf.Variable(tf.zeros([1 << 20]), name="weights")
    session.run(weights.initializer)
    size = tf.placeholder(tf.int64, [])
    large = tf.fill(tf.stack([size]), tf.reduce_sum(weights), name="large")
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run(tf.reduce_sum(large) + tf.reduce_max(weights), {size: 1 << 40})
    assert caught.value.op is large.op
    assert f"shape[{1 << 40}]" in caught.value.message
    assert "variable weights: float32[1048576] in cuda:0" in caught.value.message
    assert session.run(tf.reduce_sum(large), {size: 3}) == 0


def test_memory_is_taken_as_needed_and_given_back() -> None:
    before = torch.cuda.memory_reserved()
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(tf.zeros([64, 1 << 20]))
        session.run(variable.initializer)
        taken = torch.cuda.memory_reserved() - before
        assert 256 << 20 <= taken < 1 << 30
    assert torch.cuda.memory_reserved() <= before


def test_memory_fraction_is_a_limit() -> None:
    printed = _run_alone("""
import penstock as tf
options = tf.GPUOptions(per_process_gpu_memory_fraction=0.01)
with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
    limit = [d.memory_limit_bytes for d in session.list_devices() if d.device_type == "GPU"][0]
    size = tf.placeholder(tf.int64, [])
    made = tf.reduce_sum(tf.fill([size], 1.0))
    assert session.run(made, {size: limit // 16}) > 0
    try:
        session.run(made, {size: limit})
    except tf.errors.ResourceExhaustedError:
        print("limited")
""")
    assert printed == "limited\n"


# Devices --------------------------------------------------------------------------------------


def test_devices_are_described(session: Any) -> None:
    gpu = next(device for device in session.list_devices() if device.device_type == "GPU")
    assert gpu.name == GPU
    assert gpu.memory_limit_bytes > 1 << 30
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available(cuda_only=True)
    names = [device.name for device in tf.config.experimental.list_physical_devices("GPU")]
    assert names[0] == "/physical_device:GPU:0"


def test_default_and_chosen_devices(session: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with tf.device("/cpu:0"):
        a = tf.constant([1.0, 2.0], name="a")
    b = tf.add(tf.placeholder_with_default([1.0, 1.0], [2]), a, name="b")
    with tf.device("/gpu:0"):
        c = tf.square(b, name="c")
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(config=config) as logged:
        np.testing.assert_array_equal(logged.run(c), [4, 9])
    placed = capfd.readouterr().err
    assert f"b: (Add): {GPU}" in placed or f"b: (AddV2): {GPU}" in placed
    assert f"c: (Square): {GPU}" in placed


def test_a_string_has_no_place_on_a_gpu(session: Any) -> None:
    with tf.device("/gpu:0"):
        given = tf.placeholder(tf.string, [])
        joined = tf.string_join([given, "b"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU"):
        session.run(joined, {given: "a"})
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as soft:
        assert soft.run(joined, {given: "a"}) == b"ab"


# Files and feeds --------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(None, ON_HOST), (ON_HOST, None)])
def test_checkpoints_cross_between_devices(tmp_path: Path, first: Any, second: Any) -> None:
    with tf.Graph().as_default():
        variable = tf.Variable(tf.random_normal([5, 3], seed=1))
        saver = tf.train.Saver()
        with tf.Session(config=first) as session:
            session.run(variable.initializer)
            saved = session.run(variable)
            path = saver.save(session, str(tmp_path / "model"))
        with tf.Session(config=second) as session:
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(variable), saved)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "bool", "complex64"])
def test_feeds_come_back(session: Any, dtype: str) -> None:
    value = np.arange(6).reshape(2, 3).astype(dtype)
    fed = tf.placeholder(dtype, [None, 3])
    found = session.run([tf.identity(fed), tf.transpose(fed)], {fed: value})
    np.testing.assert_array_equal(found[0], value)
    np.testing.assert_array_equal(found[1], value.T)
    assert found[0].dtype == value.dtype


def test_summaries_of_device_values(session: Any) -> None:
    x = tf.placeholder(tf.float32, [3])
    merged = tf.summary.merge(
        [tf.summary.scalar("s", tf.reduce_sum(x)), tf.summary.histogram("h", x)]
    )
    message = tf.Summary.FromString(session.run(merged, {x: [1, 2, 3]}))
    assert message.value[0].simple_value == 6
    assert message.value[1].histo.num == 3
