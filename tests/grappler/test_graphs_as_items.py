"""What Grappler's objects tell of a MetaGraphDef: its nodes, their costs, the rewritten graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.grappler.clusters import Cluster, Provision
from penstock.grappler.items import Item
from penstock.grappler.rewriting import OptimizeGraph
from penstock.proto import DeviceProperties, NamedDevice, RewriterConfig
from penstock.train.meta_graph import create_meta_graph_def

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def meta_graph(build: Callable[[], Any]) -> Any:
    """The MetaGraphDef of a graph whose fetched node `build` gives."""
    with tf.Graph().as_default() as graph:
        tf.add_to_collection(tf.GraphKeys.TRAIN_OP, build())
        return create_meta_graph_def(graph=graph)


def sum_of_two() -> tf.Tensor:
    tf.no_op(name="aside")
    return tf.add(tf.constant(10, name="a"), tf.constant(20, name="b"), name="sum")


def sum_of_random_numbers() -> tf.Tensor:
    with tf.device(CPU):
        return tf.random_uniform([]) + tf.random_uniform([])


def test_an_item_needs_a_train_op() -> None:
    with tf.Graph().as_default() as graph:
        sum_of_two()
        message = create_meta_graph_def(graph=graph)
    with pytest.raises(tf.errors.InvalidArgumentError, match="train_op not specified"):
        Item(message)


def test_nodes_of_a_step_come_after_what_they_need() -> None:
    item = Item(meta_graph(sum_of_two))
    assert set(item.IdentifyImportantOps()) == {"a", "b", "sum"}
    assert item.IdentifyImportantOps(sort_topologically=True) == ["a", "b", "sum"]


def test_a_loop_is_sorted_too() -> None:
    item = Item(meta_graph(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])))
    names = item.IdentifyImportantOps(sort_topologically=True)
    assert sorted(names) == sorted(item.IdentifyImportantOps())
    assert names.index("while/Enter") < names.index("while/Merge") < names.index("while/Exit")


def test_properties_are_types_shapes_and_values_of_constants() -> None:
    properties = Item(meta_graph(sum_of_two)).GetOpProperties()
    assert properties["aside"] == []
    assert properties["sum"][0].dtype == tf.int32
    assert tf.TensorShape([]) == properties["sum"][0].shape
    assert properties["a"][0].value.int_val == [10]
    assert not properties["sum"][0].HasField("value")


@pytest.mark.parametrize(
    ("transform", "shape"),
    [
        (lambda data: data.batch(4), [None, 3]),
        (lambda data: data.batch(4, drop_remainder=True), [4, 3]),
        (lambda data: data.map(lambda x: tf.reshape(x, [3, 1])), [3, 1]),
        (lambda data: data.shuffle(4).repeat(2).prefetch(1), [3]),
    ],
)
def test_properties_of_datasets_have_their_shapes(transform: Any, shape: Any) -> None:
    def build() -> Any:
        data = transform(tf.data.Dataset.from_tensors([1, 2, 3]))
        return tf.data.make_one_shot_iterator(data).get_next()

    found = Item(meta_graph(build)).GetOpProperties()["IteratorGetNext"][0].shape
    assert tf.TensorShape(found).as_list() == shape


def test_nodes_that_share_references_share_a_device() -> None:
    def build() -> tf.Operation:
        tf.Variable(1.0, name="other")
        return tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.Variable(2.0, name="v") ** 2)

    groups = Item(meta_graph(build)).GetColocationGroups()
    assert {frozenset(group) for group in groups} == {
        frozenset({"other", "other/Assign"}),
        frozenset(
            "v v/Assign v/Momentum v/Momentum/Assign Momentum/update_v/ApplyMomentum".split()
        ),
    }


def test_a_changed_message_is_read_again() -> None:
    item = Item(meta_graph(sum_of_two))
    first = item.tf_item
    assert item.tf_item is first
    for node in item.metagraph.graph_def.node:
        node.device = "/cpu:0"
    second = item.tf_item
    assert second is not first
    assert item.tf_item is second


def test_a_real_cluster_measures_what_runs() -> None:
    def build() -> tf.Tensor:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        return tf.matmul(x, tf.Variable([[1.0], [2.0]]), name="product")

    with Provision(disable_detailed_stats=False, disable_timeline=False) as cluster:
        costs, seconds, stats = cluster.MeasureCosts(Item(meta_graph(build)))
    assert seconds > 0
    by_node = {cost.node: cost for cost in costs}
    assert by_node["product"].op.op == "MatMul"
    assert by_node["product"].op_memory.output_memory == [4]
    assert [row.device for row in stats.dev_stats] == [CPU]
    assert cluster.tf_cluster is None


def test_details_are_left_out_unless_asked_for() -> None:
    costs, seconds, stats = Cluster().MeasureCosts(Item(meta_graph(sum_of_random_numbers)))
    assert costs == []
    assert seconds > 0
    assert not stats.dev_stats


def test_peak_memory_counts_what_is_used_later() -> None:
    def build() -> tf.Tensor:
        x = tf.random_uniform([100], name="x")
        return tf.reduce_sum(tf.sqrt(x, name="root") + x)

    peak, tensors = Cluster().DeterminePeakMemoryUsage(Item(meta_graph(build)))[CPU]
    names = {name for name, *_ in tensors}
    assert peak >= 2 * 400
    assert peak == sum(size for _, _, size, *_ in tensors)
    assert "root" in names or "add" in names


def test_an_imagined_cluster_estimates_every_node() -> None:
    properties = DeviceProperties(
        type="GPU", frequency=1000, num_cores=60, environment={"architecture": "7"}
    )
    gpu = NamedDevice(name="/GPU:0", properties=properties)
    cluster = Cluster(devices=[gpu])
    item = Item(meta_graph(sum_of_random_numbers))
    costs, seconds, _ = cluster.MeasureCosts(item)
    assert len(costs) == len(item.metagraph.graph_def.node)
    assert seconds > 0
    assert cluster.EstimatePerformance(gpu) == 7680
    assert list(cluster.DeterminePeakMemoryUsage(item)) == ["/GPU:0"]


@pytest.mark.parametrize(("kind", "gigaflops"), [("CPU", 18.0), ("TPU", -1.0)])
def test_performance_follows_cores_and_frequency(kind: str, gigaflops: float) -> None:
    properties = DeviceProperties(type=kind, frequency=3000, num_cores=6)
    assert Cluster().EstimatePerformance(NamedDevice(properties=properties)) == gigaflops


def test_devices_with_kernels() -> None:
    devices = [
        NamedDevice(name=f"/{kind}:0", properties=DeviceProperties(type=kind))
        for kind in ("CPU", "GPU")
    ]
    item = Item(meta_graph(lambda: tf.strings.join([tf.as_string(tf.add(1, 2)), "!"])))
    found = Cluster(devices=devices).GetSupportedDevices(item)
    assert found["Add"] == ["/CPU:0", "/GPU:0"]
    assert found["StringJoin"] == ["/CPU:0"]
    assert Cluster().GetSupportedDevices(item)["Add"] == [CPU]


def test_op_types_are_sorted() -> None:
    names = Cluster().ListAvailableOps()
    assert {"Add", "MatMul"} <= set(names)
    assert names == sorted(names)


def rewritten(message: Any, **options: Any) -> dict[str, Any]:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.CopyFrom(RewriterConfig(**options))
    return {node.name: node for node in OptimizeGraph(config, message).node}


def test_small_graphs_and_switched_off_rewriting_leave_nodes_alone() -> None:
    message = meta_graph(sum_of_two)
    assert set(rewritten(message, min_graph_nodes=100)) == {"aside", "a", "b", "sum"}
    assert set(rewritten(message, disable_meta_optimizer=True)) == {"aside", "a", "b", "sum"}
    assert set(rewritten(message, optimizers=["pruning"])) == {"a", "b", "sum"}
    assert set(rewritten(message)) == {"sum"}


def test_what_collections_name_is_kept() -> None:
    def build() -> tf.Tensor:
        tf.Variable(1.0, name="v")
        tf.add_to_collection("mine", tf.constant(0, name="kept"))
        return sum_of_two()

    assert set(rewritten(meta_graph(build))) == {"v", "v/initial_value", "v/Assign", "kept", "sum"}


def test_only_configurations_configure() -> None:
    with pytest.raises(TypeError, match="Expected config_proto to be a ConfigProto"):
        OptimizeGraph(RewriterConfig(), meta_graph(sum_of_two))


@pytest.fixture
def layers() -> Any:
    def build() -> tf.Operation:
        x = w = tf.Variable([[0.5]], name="w")
        for number in range(3):
            x = tf.nn.relu(2.0 * tf.matmul(x, w), name=f"layer_{number}")
            if number == 1:
                x.op._set_attr("_recompute_hint", tf.AttrValue(i=1))
        return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x))

    return meta_graph(build)


def test_cheap_nodes_are_computed_again_for_gradients(layers: Any) -> None:
    nodes = rewritten(
        layers, memory_optimization=RewriterConfig.RECOMPUTATION_HEURISTICS, min_graph_nodes=-1
    )
    copies = {name for name in nodes if name.startswith("Recomputed/")}
    assert copies == {
        f"Recomputed/{name}" for name in ("mul", "mul_1", "mul_2", "layer_0", "layer_1", "layer_2")
    }
    assert "Recomputed/layer_2" in nodes["gradients/layer_2_grad/ReluGrad"].input
    assert nodes["layer_1"].input[0] == "mul_1"


def test_hints_choose_what_is_computed_again(layers: Any) -> None:
    nodes = rewritten(layers, memory_optimization=RewriterConfig.MANUAL)
    assert [name for name in nodes if name.startswith("Recomputed/")] == ["Recomputed/layer_1"]


def test_another_scope_has_nothing_to_recompute_for(layers: Any) -> None:
    nodes = rewritten(
        layers,
        memory_optimization=RewriterConfig.RECOMPUTATION_HEURISTICS,
        memory_optimizer_target_node_name_scope="elsewhere/",
    )
    assert not [name for name in nodes if name.startswith("Recomputed/")]


def test_the_rewritten_graph_trains_alike(layers: Any) -> None:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.memory_optimization = (
        RewriterConfig.RECOMPUTATION_HEURISTICS
    )
    values = []
    for graph_def in (layers.graph_def, OptimizeGraph(config, layers)):
        with tf.Graph().as_default(), tf.Session() as sess:
            weight, start, step = tf.import_graph_def(
                graph_def, return_elements=["w:0", "w/Assign", "GradientDescent"], name=""
            )
            sess.run(start)
            sess.run(step)
            values.append(sess.run(weight).item())
    assert values[0] == pytest.approx(values[1])
    assert values[0] != 0.5
