"""Programs that use the lesser packages of tf.contrib."""

import os

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.session_bundle import constants, exporter, gc, manifest_pb2


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


class TestExternalOptimizers:
    scipy = pytest.mark.skipif("not __import__('importlib.util').util.find_spec('scipy')")

    def minimized(self, session, optimizer, *variables, **options):
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, **options)
        return session.run(variables)

    @scipy
    def test_several_variables(self, session):
        x, y = tf.Variable(tf.zeros([2])), tf.Variable(3.0)
        loss = tf.reduce_sum(tf.square(x - [1.0, 2.0])) + tf.square(y + 1)
        found = self.minimized(session, tf.contrib.opt.ScipyOptimizerInterface(loss), x, y)
        np.testing.assert_allclose(found[0], [1, 2], atol=1e-4)
        np.testing.assert_allclose(found[1], -1, atol=1e-4)

    @scipy
    def test_constraints(self, session):
        v = tf.Variable([7.0, 7.0])
        optimizer = tf.contrib.opt.ScipyOptimizerInterface(
            tf.reduce_sum(tf.square(v)),
            equalities=[v[1] - 1.0],
            inequalities=[v[0] - 1.0],
            method="SLSQP",
        )
        np.testing.assert_allclose(self.minimized(session, optimizer, v)[0], [1, 1], atol=1e-5)

    @scipy
    def test_bounds_feeds_and_callbacks(self, session):
        v, goal = tf.Variable([7.0, 7.0]), tf.placeholder(tf.float32, [])
        loss = tf.reduce_sum(tf.square(v - goal))
        optimizer = tf.contrib.opt.ScipyOptimizerInterface(
            loss, var_to_bounds={v: ([1, 2], np.inf)}, options={"maxiter": 50}
        )
        losses, steps = [], []
        (found,) = self.minimized(
            session,
            optimizer,
            v,
            feed_dict={goal: 0.0},
            fetches=[loss],
            loss_callback=losses.append,
            step_callback=lambda x: steps.append(x.shape),
        )
        np.testing.assert_allclose(found, [1, 2], atol=1e-5)
        assert losses[0] == 98
        assert steps[0] == (2,)

    @scipy
    @pytest.mark.parametrize(
        ("name", "message"), [("bounds", "var_to_bounds"), ("jac", "set automatically")]
    )
    def test_own_arguments(self, session, name, message):
        v = tf.Variable([1.0])
        optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(v), **{name: None})
        with pytest.raises(ValueError, match=message):
            self.minimized(session, optimizer, v)

    def test_subclass(self, session):
        class Newton(tf.contrib.opt.ExternalOptimizerInterface):
            def _minimize(self, initial_val, loss_grad_func, **others):
                return initial_val - loss_grad_func(initial_val)[1] / 2

        v, unused = tf.Variable([[3.0, 4.0]]), tf.Variable(5.0)
        found = self.minimized(session, Newton(tf.reduce_sum(tf.square(v))), v, unused)
        np.testing.assert_allclose(found[0], [[0, 0]])
        assert found[1] == 5
        base = tf.contrib.opt.ExternalOptimizerInterface(tf.reduce_sum(v))
        with pytest.raises(NotImplementedError, match="implement the _minimize"):
            base.minimize(session)


class TestCompiler:
    def test_scope(self):
        jit_scope = tf.contrib.compiler.jit.experimental_jit_scope
        with jit_scope():
            a = tf.constant(1.0)
            with jit_scope(
                compile_ops=lambda node: node.op == "Add", separate_compiled_gradients=True
            ):
                b = tf.constant(2.0)
        with jit_scope(compile_ops=False):
            c = tf.constant(3.0)
        assert a.op.get_attr("_XlaCompile")
        assert a.op.get_attr("_XlaScope") == b"jit_scope_0"
        assert not b.op.get_attr("_XlaCompile")
        assert b.op.get_attr("_XlaScope") == b"jit_scope_0"
        assert b.op.get_attr("_XlaSeparateCompiledGradients")
        assert c.op.get_attr("_XlaScope") == b"jit_scope_1"

    def test_compile(self, session):
        compile = tf.xla.experimental.compile
        assert compile is tf.contrib.compiler.xla.compile
        v = tf.get_variable("v", initializer=1.0)
        (one,) = compile(lambda x: x * v, [3.0])
        nested = compile(lambda x: {"a": x, "b": [x + 1]}, [1.0])
        (after,) = compile(lambda: (tf.constant(7), v.assign(5.0).op))
        session.run(v.initializer)
        assert session.run(one) == 3
        assert session.run(nested) == {"a": 1, "b": [2]}
        assert session.run(after) == 7
        assert session.run(v) == 5
        assert isinstance(compile(lambda: None), tf.Operation)
        with pytest.raises(ValueError, match="followed by zero or more Operations"):
            compile(lambda: (v.initializer, one))

    def test_variables_of_compiled_functions(self):
        tf.xla.experimental.compile(lambda: tf.get_variable("w", initializer=2.0) + 1)
        assert tf.global_variables()[0].op.type == "VarHandleOp"


def test_clusters_of_small_batches(session):
    points = np.float32([[0, 0], [1, 0], [10, 10], [11, 10]])
    kmeans = tf.contrib.factorization.KMeans(
        tf.constant(points),
        2,
        initial_clusters=points[[0, 2]],
        use_mini_batch=True,
        mini_batch_steps_per_iteration=2,
    )
    _, index, _, initialized, init, train = kmeans.training_graph()
    session.run(tf.global_variables_initializer())
    assert not session.run(initialized)
    session.run(init)
    assert session.run(initialized)
    for _ in range(4):
        session.run(train)
    centers = session.run(tf.global_variables()[0])
    np.testing.assert_allclose(centers, [[0.5, 0], [10.5, 10]], atol=1e-5)
    assert session.run(index[0]).tolist() == [0, 0, 1, 1]


def test_estimator_of_clusters(tmp_path):
    points = np.float32([[0, 0], [1, 0], [10, 10], [11, 10]])
    kmeans = tf.contrib.factorization.KMeansClustering(
        2,
        str(tmp_path),
        initial_clusters=tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT,
        use_mini_batch=False,
        relative_tolerance=1e-3,
    )

    def once():
        return tf.train.limit_epochs(tf.constant(points), num_epochs=1)

    kmeans.train(lambda: (tf.constant(points), None), steps=5)
    centers = kmeans.cluster_centers()
    np.testing.assert_allclose(sorted(centers[:, 1]), [0, 10], atol=1e-4)
    assert kmeans.score(once) == pytest.approx(1, abs=1e-3)
    indices = list(kmeans.predict_cluster_index(once))
    np.testing.assert_allclose(centers[indices], [[0.5, 0]] * 2 + [[10.5, 10]] * 2, atol=1e-4)
    assert next(kmeans.transform(once)).shape == (2,)


def test_words_of_a_vocabulary(session, tmp_path):
    from penstock.contrib.text import skip_gram_sample_with_text_vocab

    file = tmp_path / "words.csv"
    file.write_text("a,5\nb,1\nc,7\n")
    tokens, labels = skip_gram_sample_with_text_vocab(
        tf.constant(["a", "x", "b", "c"]), str(file), vocab_min_count=2, max_skips=1
    )
    session.run(tf.tables_initializer())
    assert [v.tolist() for v in session.run([tokens, labels])] == [[b"a", b"c"], [b"c", b"a"]]
    with pytest.raises(ValueError, match="out of bounds"):
        skip_gram_sample_with_text_vocab(tokens, str(file), vocab_freq_index=2)
    with pytest.raises(ValueError, match="useless without a vocab_freq_table"):
        tf.contrib.text.skip_gram_sample(tokens, vocab_min_count=1)


def test_sequences_of_columns(session):
    columns = tf.contrib.feature_column
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])
    numbers = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 1.5, 2.5], [2, 2])
    category = columns.sequence_categorical_column_with_identity("ids", 3)
    layer, length = columns.sequence_input_layer(
        {"ids": ids, "x": numbers},
        [
            tf.feature_column.embedding_column(category, 2, initializer=tf.ones_initializer()),
            columns.sequence_numeric_column("x"),
        ],
    )
    names = [v.op.name for v in tf.global_variables()]
    assert names == ["sequence_input_layer/ids_embedding/embedding_weights"]
    session.run(tf.global_variables_initializer())
    assert session.run(length).tolist() == [1, 2]
    found = session.run(layer)
    assert found.tolist() == [[[1, 1, 0.5], [0, 0, 0]], [[1, 1, 1.5], [1, 1, 2.5]]]


class TestSessionBundle:
    def test_export(self, session, tmp_path):
        asset = tmp_path / "names.txt"
        asset.write_text("x")
        step = tf.train.create_global_step()
        x = tf.placeholder(tf.float32, name="x")
        y = tf.multiply(x, tf.Variable(2.0), name="y")
        session.run(tf.global_variables_initializer())
        made = exporter.Exporter(tf.train.Saver())
        with pytest.raises(RuntimeError, match="init must be called first"):
            made.export(str(tmp_path / "out"), step, session)
        made.init(
            default_graph_signature=exporter.regression_signature(x, y),
            named_graph_signatures={"inputs": exporter.generic_signature({"x": x})},
            assets_collection=[tf.constant(str(asset))],
            clear_devices=True,
        )
        keep = gc.largest_export_versions(1)
        for _ in range(2):
            path = made.export(str(tmp_path / "out"), step, session, exports_to_keep=keep)
            session.run(step.assign_add(1))
        assert os.listdir(tmp_path / "out") == ["00000001"]
        files = os.listdir(path.decode())
        assert {"export.meta", "export.index", "assets"} <= set(files)
        message = tf.MetaGraphDef.FromString((tmp_path / "out/00000001/export.meta").read_bytes())
        packed = message.collection_def[constants.SIGNATURES_KEY].any_list.value[0]
        assert packed.type_url == "type.googleapis.com/tensorflow.serving.Signatures"
        signatures = manifest_pb2.Signatures.FromString(packed.value)
        assert signatures.default_signature.regression_signature.output.tensor_name == "y:0"

    def test_what_is_kept(self):
        paths = [gc.Path(str(i), i) for i in (0, 3, 4, 8, 9)]
        kept = gc.union(gc.one_of_every_n_export_versions(4), gc.mod_export_version(3))(paths)
        assert [path.export_version for path in kept] == [0, 3, 4, 8, 9]
        kept = gc.negation(gc.one_of_every_n_export_versions(4))(paths)
        assert [path.export_version for path in kept] == [0, 3]


def test_tags_of_a_saved_model(session, tmp_path):
    reader = tf.contrib.saved_model.reader
    x = tf.placeholder(tf.float32)
    tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": x + 1})
    assert reader.get_saved_model_tag_sets(str(tmp_path / "model")) == [["serve"]]
    with pytest.raises(IOError, match="does not exist at"):
        reader.read_saved_model(str(tmp_path))


def test_memory_of_a_gpu_is_not_asked_of_a_cpu(session):
    found = tf.contrib.memory_stats.MaxBytesInUse()
    assert (found.dtype, found.shape.as_list(), found.op.type) == (tf.int64, [], "MaxBytesInUse")
    with tf.device("/cpu:0"):
        on_cpu = tf.contrib.memory_stats.BytesLimit()
    with pytest.raises(tf.errors.UnimplementedError, match="no kernel for BytesLimit on CPU"):
        session.run(on_cpu)


class TestAllReduce:
    def tensors(self, count, shape):
        with tf.device("/job:localhost/replica:0/task:0/cpu:0"):
            values = np.arange(count * np.prod(shape), dtype=np.float32).reshape(count, *shape)
            return [tf.constant(value) for value in values], values.sum(0)

    @pytest.mark.parametrize("shape", [(7,), (3, 5), (2,)])
    @pytest.mark.parametrize("count", [2, 3])
    def test_ring_and_shuffle(self, session, shape, count):
        given, total = self.tensors(count, shape)
        module = tf.contrib.all_reduce
        ring = module.build_ring_all_reduce(given, 1, 1, range(count), tf.add, lambda x: x / 2)
        shuffle = module.build_shuffle_all_reduce(given, ["/cpu:0"] * 2, tf.add_n)
        for half, whole in zip(*session.run([ring, shuffle]), strict=True):
            np.testing.assert_allclose(half, total / 2)
            np.testing.assert_allclose(whole, total)

    def test_halving_and_levels(self, session):
        given, total = self.tensors(4, (2, 4))
        module = tf.contrib.all_reduce
        found = [
            module.build_recursive_hd_all_reduce(given, tf.add),
            module.build_shuffle_then_ring(given, ["/cpu:0"], 1, tf.add_n, tf.add),
            module.build_shuffle_then_shuffle(given, ["/cpu:0"], ["/cpu:0"], tf.add_n),
        ]
        for each in session.run(found):
            np.testing.assert_allclose(each, [total] * 4)
        with pytest.raises(ValueError, match="power of 2"):
            module.build_recursive_hd_all_reduce(given[:3], tf.add)
