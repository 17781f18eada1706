"""Small graphs of the lesser packages of tf.contrib, built alike by TensorFlow 1.15 and Penstock.

A scenario gives tensors by name; nothing in it is random. Written for Python 3.7 too.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def numbers(*shape: int) -> np.ndarray:
    """Fixed numbers without a pattern, between -1 and 1."""
    return np.sin(np.arange(np.prod(shape), dtype=np.float64) * 1.7 + 0.3).reshape(shape)


def internal(tf: Any, path: str) -> Any:
    """A module that is not reached from the root."""
    return importlib.import_module(f"{tf.__name__}.{path}")


def floats(tf: Any, *shape: int) -> Any:
    return tf.constant(numbers(*shape), tf.float32)


def varied(tf: Any, scale: float = 1.0) -> Any:
    """An initializer whose values differ from place to place."""

    def initialize(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return tf.constant(scale * numbers(*[int(size) for size in shape]), dtype or tf.float32)

    return initialize


def grid_cell(cell: str, **options: Any) -> Any:
    def build(tf: Any) -> dict[str, Any]:
        with tf.variable_scope("root", initializer=varied(tf)):
            if "non_recurrent_fn" in options:
                options["non_recurrent_fn"] = tf.nn.relu
            grid = getattr(tf.contrib.grid_rnn, cell)(2, **options)
            sizes = grid.state_size
            if isinstance(sizes, int):
                state = floats(tf, 3, sizes)
            else:
                state = tf.contrib.framework.nest.map_structure(lambda n: floats(tf, 3, n), sizes)
            output, state = grid(floats(tf, 3, 4), state)
        flat = tf.contrib.framework.nest.flatten([output, state])
        return {str(i): each for i, each in enumerate(flat)}

    return build


def turing_machine(read_heads: int, write_heads: int, **options: Any) -> Any:
    def build(tf: Any) -> dict[str, Any]:
        with tf.variable_scope("root"):
            controller = tf.nn.rnn_cell.LSTMCell(6, initializer=varied(tf))
            cell = internal(tf, "contrib.rnn.python.ops.rnn_cell").NTMCell(
                controller, 7, 5, read_heads, write_heads, **options
            )
            outputs, state = tf.nn.static_rnn(
                cell,
                [floats(tf, 3, 4), floats(tf, 3, 4) * 2],
                initial_state=cell.zero_state(3, tf.float32),
            )
        assigned = [
            v.assign(tf.constant(numbers(*v.shape.as_list()), tf.float32))
            for v in tf.global_variables()
        ]
        found = {"first": outputs[0], "second": outputs[1], "memory": state.M}
        found["weights"] = tf.stack(state.w_list)
        found["gradient"] = tf.gradients(outputs[1], tf.trainable_variables())[0]
        return {"before": [assigned], **found}

    return build


def clusters(metric: str, batches: int = 1) -> Any:
    """K-means on all points; on small batches, TensorFlow's results depend on its threads."""

    def build(tf: Any) -> dict[str, Any]:
        points = np.float32(numbers(60, 3) + np.arange(3).repeat(20)[:, None])
        inputs = [tf.constant(each) for each in np.split(points, batches)]
        kmeans = tf.contrib.factorization.KMeans(
            inputs, 3, initial_clusters="kmeans_plus_plus", distance_metric=metric, random_seed=4
        )
        scores, index, nearest, initialized, init, train = kmeans.training_graph()
        return {
            "before": [init, train, train],
            "scores": scores[-1],
            "index": index[0],
            "nearest": nearest[0],
            "initialized": initialized,
            "centers": tf.global_variables()[0].read_value(),
        }

    return build


def resampled(tf: Any) -> dict[str, Any]:
    data, warp = floats(tf, 2, 4, 5, 3), floats(tf, 2, 3, 4, 2) * 6
    output = internal(tf, "contrib.resampler").resampler(data, warp)
    by_data, by_warp = tf.gradients(output, [data, warp], floats(tf, 2, 3, 4, 3))
    return {"output": output, "by_data": by_data, "by_warp": by_warp}


def oscillator(tf: Any) -> dict[str, Any]:
    matrix = tf.constant([[0.0, 1.0], [-2.0, -0.3]], tf.float64)
    times = np.linspace(0, 4, 6)
    start = tf.constant([[1.0], [0.5]], tf.float64)
    state, about = tf.contrib.integrate.odeint(
        lambda y, t: tf.matmul(matrix, y) + tf.cos(t), start, times, full_output=True
    )
    turning = tf.contrib.integrate.odeint(
        lambda y, t: -1j * tf.cast(t, tf.complex128) * y,
        tf.constant(1.0 + 0j, tf.complex128),
        [0.0, 1.0, 3.0],
        rtol=1e-4,
        method="dopri5",
        options={"first_step": 0.1, "safety": 0.8},
    )
    return {
        "state": state,
        "gradient": tf.gradients(state[-1], start)[0],
        "turning": tf.stack([tf.real(turning), tf.imag(turning)]),
        **about,
    }


def fixed_steps(tf: Any) -> dict[str, Any]:
    def fall(y: Any, t: Any) -> Any:
        return -y * tf.cast(t, y.dtype)

    odeint_fixed = tf.contrib.integrate.odeint_fixed
    times = tf.constant([0.0, 0.5, 1.5], tf.float64)
    start = floats(tf, 3)
    solution = odeint_fixed(fall, start, times)
    return {
        "rk4": solution,
        "gradient": tf.gradients(solution[-1], start)[0],
        "midpoint": odeint_fixed(fall, start, times, dt=[0.1, 0.3], method="midpoint"),
        "same_step": odeint_fixed(fall, start, times, dt=tf.constant(0.2, tf.float64)),
    }


def skip_grams(tf: Any) -> dict[str, Any]:
    words = tf.constant(["the", "quick", "brown", "fox", "jumps", "over", "it"])
    sample = internal(tf, "contrib.text").skip_gram_sample
    found: dict[str, Any] = {}
    for name, options in {
        "random": {"seed": 42},
        "part": {"start": 1, "limit": 3, "min_skips": 2, "max_skips": 2},
        "selves": {"emit_self_as_target": True, "max_skips": 3, "seed": 7},
        "numbers": {"input_tensor": tf.range(20), "seed": 5, "min_skips": 0},
    }.items():
        given = {"input_tensor": words, **options}
        found[f"{name}_tokens"], found[f"{name}_labels"] = sample(**given)
    return found


def regularized_adagrad(tf: Any) -> dict[str, Any]:
    opt = tf.contrib.opt.RegAdagradOptimizer(0.5)
    x, rows = tf.Variable(floats(tf, 3)), tf.Variable(floats(tf, 4, 2))
    learn = opt.minimize(tf.reduce_sum(x**2) + tf.reduce_sum(tf.gather(rows, [1, 1, 2]) ** 2))
    with opt.avoid_updating_slots():
        shrink = opt.minimize(tf.reduce_sum(tf.abs(x)) + tf.reduce_sum(rows**4))
    return {
        "before": [learn, shrink, learn],
        "x": x.read_value(),
        "rows": rows.read_value(),
        "slot": opt.get_slot(x, "accumulator").read_value(),
    }


def stale_gradients(tf: Any) -> dict[str, Any]:
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", initializer=floats(tf, 3))
    inner = tf.train.MomentumOptimizer(0.1, 0.9)
    opt = tf.contrib.opt.DropStaleGradientOptimizer(inner, 2)
    train = opt.minimize(tf.reduce_sum(x**2), global_step=step)
    return {
        "before": [train, train],
        "x": x.read_value(),
        "step": step.read_value(),
        "slot": opt.get_slot(x, "momentum").read_value(),
    }


def elastic_average(tf: Any) -> dict[str, Any]:
    step = tf.train.get_or_create_global_step()
    getter = tf.contrib.opt.ElasticAverageCustomGetter("/job:localhost/task:0")
    with tf.variable_scope("", custom_getter=getter):
        x = tf.get_variable("x", initializer=floats(tf, 3))
    opt = tf.contrib.opt.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 2, getter, communication_period=2, moving_rate=0.3
    )
    train = opt.minimize(tf.reduce_sum((x - 1.0) ** 2), global_step=step)
    found = {
        "before": [opt.get_init_op(0), train, train, train, train, train],
        "x": x.read_value(),
        "step": step.read_value(),
    }
    for variable in tf.local_variables() + tf.global_variables():
        found[variable.op.name] = variable.read_value()
    return found


def accumulated_gradients(tf: Any) -> dict[str, Any]:
    step = tf.train.get_or_create_global_step()
    getter = tf.contrib.opt.AGNCustomGetter("/job:localhost/task:0")
    with tf.variable_scope("", custom_getter=getter):
        x = tf.get_variable("x", initializer=floats(tf, 3))
    opt = tf.contrib.opt.AGNOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 1, getter, communication_period=2
    )
    train = opt.minimize(tf.reduce_sum((x - 1.0) ** 2), global_step=step)
    return {
        "before": [opt.get_init_op(0), train, train, train],
        **{v.op.name: v.read_value() for v in tf.local_variables() + tf.global_variables()},
    }


def model_average(tf: Any) -> dict[str, Any]:
    step = tf.train.get_or_create_global_step()
    getter = tf.contrib.opt.ModelAverageCustomGetter("/job:localhost/task:0")
    with tf.variable_scope("", custom_getter=getter):
        x = tf.get_variable("x", initializer=floats(tf, 3))
    opt = tf.contrib.opt.ModelAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 1, True, getter, interval_steps=2
    )
    train = opt.minimize(tf.reduce_sum((x - 1.0) ** 2), global_step=step)
    return {
        "before": [opt.get_init_op(), train, train, train],
        **{v.op.name: v.read_value() for v in tf.local_variables() + tf.global_variables()},
    }


def monte_carlo(tf: Any) -> dict[str, Any]:
    library = internal(tf, "contrib.bayesflow").monte_carlo
    mean = tf.constant([0.3, -0.2])
    p, q = tf.distributions.Normal(mean, 1.0), tf.distributions.Normal(0.0, 2.0)
    z = floats(tf, 20, 2) * 2
    score = library.expectation(lambda x: x**3, z, p.log_prob, use_reparametrization=False)
    weighted = library.expectation_importance_sampler(lambda x: x**3, p.log_prob, q, z=z)
    return {
        "plain": library.expectation(tf.square, z, axis=1, keep_dims=True),
        "score": score,
        "score_gradient": tf.gradients(score, mean)[0],
        "weighted": weighted,
        "weighted_gradient": tf.gradients(weighted, mean)[0],
        "logs": library.expectation_importance_sampler_logspace(tf.square, p.log_prob, q, z=z),
    }


SCENARIOS = {
    "monte_carlo": monte_carlo,
    "accumulated_gradients": accumulated_gradients,
    "model_average": model_average,
    "regularized_adagrad": regularized_adagrad,
    "stale_gradients": stale_gradients,
    "elastic_average": elastic_average,
    "kmeans": clusters("squared_euclidean"),
    "kmeans_cosine": clusters("cosine", batches=2),
    "resampler": resampled,
    "odeint": oscillator,
    "odeint_fixed": fixed_steps,
    "skip_grams": skip_grams,
    "grid_1_basic_rnn": grid_cell("Grid1BasicRNNCell"),
    "grid_2_basic_rnn_relu": grid_cell("Grid2BasicRNNCell", non_recurrent_fn=None),
    "grid_2_basic_lstm_tied": grid_cell("Grid2BasicLSTMCell", tied=True),
    "grid_1_basic_lstm": grid_cell("Grid1BasicLSTMCell", forget_bias=0.5),
    "grid_1_lstm": grid_cell("Grid1LSTMCell", use_peepholes=True),
    "grid_2_lstm_flat": grid_cell("Grid2LSTMCell", output_is_tuple=False),
    "grid_3_lstm": grid_cell("Grid3LSTMCell", use_peepholes=True, forget_bias=0.3),
    "grid_3_lstm_relu": grid_cell("Grid3LSTMCell", non_recurrent_fn=None),
    "grid_2_gru": grid_cell("Grid2GRUCell"),
    "turing_machine": turing_machine(1, 1),
    "turing_machine_heads": turing_machine(2, 3, shift_range=2, output_dim=3, clip_value=2),
}
