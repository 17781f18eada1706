"""Profiles along edges and by lines, of traced steps, and what they advise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.profiler.model_analyzer import ALL_ADVICE
from penstock.profiler.numbers import formatted_bytes, formatted_micros
from penstock.proto import ProfileProto

Builder = tf.profiler.ProfileOptionBuilder


@pytest.fixture
def train() -> tf.Operation:
    x = tf.ones([8, 4], name="x")
    w = tf.get_variable("w", [4, 2])
    y = tf.matmul(x, w, name="product")
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))


@pytest.fixture
def traced(train: tf.Operation) -> tf.RunMetadata:
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(train, options=options, run_metadata=metadata)
    return metadata


def quiet(options: Any) -> Any:
    return Builder(options).with_empty_output().build()


def test_inputs_are_below_what_uses_them(tmp_path: Path) -> None:
    x = tf.ones([2, 6])
    w = tf.get_variable("w", [6, 3], initializer=tf.zeros_initializer())
    y = tf.nn.relu(tf.matmul(x, w, name="inner"))
    tf.matmul(y, tf.zeros([3, 4]), name="outer")
    path = str(tmp_path / "report")
    options = Builder(Builder.float_operation()).with_file_output(path).build()
    root = tf.profiler.profile(cmd="graph", options=options)
    assert Path(path).read_text().splitlines()[-3:] == [
        "_TFProfRoot (--/120 flops)",
        "  outer (48/120 flops)",
        "    inner (72/72 flops)",
    ]
    assert root.children[0].name == "outer"
    assert root.children[0].children[0].total_float_ops == 72


def test_a_node_of_several_users_counts_once() -> None:
    v = tf.get_variable("v", [5])
    tf.add(v, v, name="a")
    tf.subtract(v, 1.0, name="b")
    options = quiet(Builder.trainable_variables_parameter())
    root = tf.profiler.profile(cmd="graph", options=options)
    assert root.total_parameters == 5
    assert [child.name for child in root.children] == ["v"]


def test_lines_have_the_nodes_that_they_made() -> None:
    def layer(name: str) -> tf.Tensor:
        return tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]), name=name)

    layer("first")
    layer("second")
    root = tf.profiler.profile(cmd="code", options=quiet(Builder.float_operation()))
    assert root.total_float_ops == 2 * 48
    line = next(child for child in root.children if child.name.endswith(":layer"))
    assert line.name.startswith("test_traced_profiles.py:")
    assert line.float_ops == 2 * 48
    assert [node.name for node in line.graph_nodes if node.float_ops] == ["first", "second"]


def test_gradients_belong_to_the_lines_they_are_gradients_of(train: tf.Operation) -> None:
    root = tf.profiler.profile(cmd="code", options=quiet(Builder.float_operation()))
    names = [child.name for child in root.children]
    assert "test_traced_profiles.py:24:train" in names
    gradients = next(child for child in root.children if child.name.endswith("train (gradient)"))
    assert gradients.graph_nodes[0].name.startswith("gradients/")


def test_columns_of_a_traced_step(traced: tf.RunMetadata, tmp_path: Path) -> None:
    path = str(tmp_path / "report")
    columns = ["output_bytes", "cpu_micros", "device", "op_types", "occurrence", "input_shapes"]
    options = Builder().select(columns).with_file_output(path).build()
    root = tf.profiler.profile(run_meta=traced, options=options)
    lines = Path(path).read_text().splitlines()
    head = next(line for line in lines if line.startswith("node name"))
    assert head.split(" | ")[1:4] == ["output bytes", "cpu execution time", "assigned devices"]
    device = "/job:localhost/replica:0/task:0/device:cpu:0"
    update = next(line for line in lines if "ApplyGradientDescent" in line)
    assert f"{device}, {device}|ApplyGradientDescent, 1/1|1/1, 0:4x2" in update
    assert root.total_run_count > 1
    assert root.total_exec_micros == root.total_cpu_exec_micros


def traced_run(fetch: Any, **feeds: Any) -> tf.RunMetadata:
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        values = {f"{name}:0": value for name, value in feeds.items()}
        sess.run(fetch, values, options=options, run_metadata=metadata)
    return metadata


def test_what_loops_compute_counts_as_often_as_they_do() -> None:
    w = tf.ones([2, 2])
    looped = tf.while_loop(
        lambda i, x: i < 5, lambda i, x: (i + 1, tf.matmul(x, w, name="step")), [0, w]
    )[1]
    options = Builder(Builder.float_operation()).with_accounted_types(["MatMul"])
    root = tf.profiler.profile(
        run_meta=traced_run(looped), options=options.with_empty_output().build()
    )
    assert root.total_float_ops == 5 * 16


def test_sizes_that_only_a_run_knows_are_counted() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    product = tf.matmul(tf.sqrt(x), tf.ones([3, 4]), name="product")
    root = tf.profiler.profile(
        run_meta=traced_run(product, x=[[1.0, 2.0, 3.0]] * 2),
        options=Builder(Builder.float_operation())
        .with_accounted_types(["MatMul"])
        .with_empty_output()
        .build(),
    )
    assert root.total_float_ops == 2 * 2 * 3 * 4
    assert product.shape.as_list() == [None, 4]  # the graph is as it was


def test_steps_are_averaged_and_runs_of_a_step_belong_together() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.sqrt(x, name="root")
    tf.square(x, name="square")
    profiler = tf.profiler.Profiler()
    profiler.add_step(1, traced_run("root:0", x=[1.0]))
    profiler.add_step(1, traced_run("square:0", x=[1.0] * 4))
    profiler.add_step(2, traced_run("square:0", x=[1.0] * 2))
    options = Builder().select(["output_bytes"]).with_empty_output()

    def bytes_of(name: str, step: int) -> int:
        found = profiler.profile_name_scope(options.with_step(step).build())
        return next(child.output_bytes for child in found.children if child.name == name)

    assert (bytes_of("root", 1), bytes_of("square", 1)) == (4, 16)
    assert (bytes_of("root", 2), bytes_of("square", 2)) == (0, 8)
    assert (bytes_of("root", -1), bytes_of("square", -1)) == (4, 12)


def test_constants_keep_their_memory() -> None:
    product = tf.multiply(tf.ones([100]), tf.ones([100]), name="product")
    options = Builder().select(["peak_bytes", "residual_bytes"]).with_empty_output().build()
    found = tf.profiler.profile(run_meta=traced_run(product), options=options)
    node = next(child for child in found.children if child.name == "product")
    assert (node.peak_bytes, node.residual_bytes) == (400, 400)


def test_whole_times_have_their_parts_beside_them(traced: tf.RunMetadata, tmp_path: Path) -> None:
    path = str(tmp_path / "report")
    options = Builder().select(["micros"]).with_file_output(path).build()
    for cmd in ("scope", "graph", "code", "op"):
        tf.profiler.profile(run_meta=traced, cmd=cmd, options=options)
        assert "total execution time | accelerator execution time | cpu" in Path(path).read_text()


def test_a_timeline_is_written(traced: tf.RunMetadata, tmp_path: Path) -> None:
    path = str(tmp_path / "timeline")
    options = Builder(Builder.time_and_memory()).with_step(3).with_timeline_output(path).build()
    tf.profiler.profile(run_meta=traced, cmd="graph", options=options)
    events = json.loads(Path(f"{path}_3").read_text())["traceEvents"]
    assert any(event.get("args", {}).get("name") == "w" for event in events)


def test_advice_tells_what_takes_most_time(
    traced: tf.RunMetadata, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tf.profiler.advise(run_meta=traced)
    assert set(found.checkers) == set(ALL_ADVICE) - {"JobChecker"}
    types, nodes = found.checkers["ExpensiveOperationChecker"].reports
    assert types.startswith("top 1 operation type: ")
    assert nodes.startswith("top 1 graph node: ")
    assert not found.checkers["AcceleratorUtilizationChecker"].reports
    assert types in capsys.readouterr().out
    only = tf.profiler.advise(run_meta=traced, options={"OperationChecker": {}})
    assert set(only.checkers) == {"OperationChecker"}


def test_a_profiler_is_a_message(traced: tf.RunMetadata) -> None:
    profiler = tf.profiler.Profiler()
    profiler.add_step(7, traced)
    message = ProfileProto.FromString(profiler.serialize_to_string())
    assert list(message.steps) == [7]
    product = next(node for node in message.nodes.values() if node.name == "product")
    assert message.nodes[product.inputs[0]].name == "x"
    path = message.id_to_string[product.trace.traces[0].file_id]
    assert path.endswith("test_traced_profiles.py")
    w = next(node for node in message.nodes.values() if node.name == "w")
    assert w.execs[7].run_count == 1
    assert 0 < profiler._coverage < 1


def test_a_context_traces_and_profiles_runs(train: tf.Operation, tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    options = quiet(Builder.time_and_memory())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with tf.contrib.tfprof.ProfileContext(
            str(folder), trace_steps=[1], dump_steps=[2], debug=True
        ) as context:
            context.add_auto_profiling("op", options, [3])
            for _ in range(5):
                sess.run(train)
            context.trace_next_step()
            sess.run(train)
        sess.run(train)
    assert sorted(path.name for path in folder.iterdir()) == [
        "profile_2",
        "run_meta_1",
        "run_meta_3",
        "run_meta_5",
    ]
    assert list(ProfileProto.FromString((folder / "profile_2").read_bytes()).steps) == [1]
    assert list(context.get_profiles("op")) == [3]
    with pytest.raises(ValueError, match="No autoprofiler"):
        context.get_profiles("scope")


def test_each_form_of_a_run_is_traced_once(train: tf.Operation, tmp_path: Path) -> None:
    with tf.Session() as sess, tf.contrib.tfprof.ProfileContext(str(tmp_path)) as context:
        for _ in range(12):
            sess.run("x:0")
        sess.run("x:0")
    assert sorted(context.profiler._steps) == [11]


def test_contexts_do_not_nest_and_can_be_off(tmp_path: Path) -> None:
    with (
        tf.contrib.tfprof.ProfileContext(str(tmp_path)),
        pytest.raises(tf.errors.InternalError, match="Already in context"),
        tf.contrib.tfprof.ProfileContext(str(tmp_path)),
    ):
        pass
    with tf.contrib.tfprof.ProfileContext("", enabled=False) as context:
        context.trace_next_step()
        assert context.profiler is None
    with pytest.raises(ValueError, match="Must have a directory"):
        tf.contrib.tfprof.ProfileContext("")
    with pytest.raises(ValueError, match="up to 100 steps"):
        tf.contrib.tfprof.ProfileContext(str(tmp_path), trace_steps=range(101))


@pytest.mark.parametrize(
    ("number", "as_bytes", "as_time"),
    [(999, "999B", "999us"), (16384, "16.38KB", "16.38ms"), (2 * 10**9, "2.00GB", "2000.00sec")],
)
def test_units(number: int, as_bytes: str, as_time: str) -> None:
    assert formatted_bytes(number) == as_bytes
    assert formatted_micros(number) == as_time
