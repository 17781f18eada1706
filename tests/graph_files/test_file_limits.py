"""The folders that the file operations of imported graphs can be limited to."""

import pytest

import penstock as tf
from penstock.platform import file_limits
from penstock.proto import AssetFileDef, SavedModel


@pytest.fixture(autouse=True)
def unlimited_again():
    yield
    tf.config.set_graph_file_roots(None)


@pytest.fixture
def folders(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "words.txt").write_text("a\nb\n")
    return inside, outside


def run_imported(build, name="out", feed=None):
    """Builds in one graph, imports its GraphDef into another and runs that."""
    with tf.Graph().as_default() as graph:
        build()
    with tf.Graph().as_default() as other, tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        return session.run(other.as_graph_element(name), feed)


def test_without_a_limit_a_graph_reads_what_it_names(folders):
    path = str(folders[1] / "words.txt")
    assert run_imported(lambda: tf.read_file(path, name="out"), "out:0") == b"a\nb\n"


def test_a_path_outside_of_the_roots_is_refused(folders):
    inside, outside = folders
    tf.config.set_graph_file_roots([inside])
    assert tf.config.get_graph_file_roots() == [str(inside)]
    assert run_imported(lambda: tf.read_file(str(inside / "words.txt"), name="out"), "out:0")
    away = [str(outside / "words.txt"), str(inside / "../outside/words.txt"), f"{inside}-not/x"]
    for path in away:
        with pytest.raises(tf.errors.PermissionDeniedError, match=r"ReadFile 'out'.*may not touch"):
            run_imported(lambda path=path: tf.read_file(path, name="out"), "out:0")


def test_a_link_out_of_the_roots_is_refused(folders):
    inside, outside = folders
    (inside / "link").symlink_to(outside / "words.txt")
    tf.config.set_graph_file_roots([inside])
    with pytest.raises(tf.errors.PermissionDeniedError):
        run_imported(lambda: tf.read_file(str(inside / "link"), name="out"), "out:0")


def test_every_way_to_a_file(folders):
    path = str(folders[1] / "words.txt")
    tf.config.set_graph_file_roots([])

    def table():
        table = tf.contrib.lookup.index_table_from_file(path)
        tf.group(table.init, name="out")

    def reader():
        queue = tf.FIFOQueue(2, [tf.string], shapes=[[]])
        with tf.control_dependencies([queue.enqueue([path])]):
            tf.identity(tf.TextLineReader().read(queue).value, name="out")

    def dataset():
        lines = tf.data.Dataset.from_tensors(path).flat_map(tf.data.TextLineDataset)
        tf.identity(lines.make_one_shot_iterator().get_next(), name="out")

    def checkpoint():
        tf.get_default_graph().create_op(
            "SaveV2",
            [tf.constant(path), tf.constant(["v"]), tf.constant([""]), tf.constant(1.0)],
            name="out",
        )

    for build in (
        table,
        reader,
        dataset,
        checkpoint,
        lambda: tf.write_file(path, "x", name="out"),
        lambda: tf.matching_files(path, name="out"),
    ):
        with pytest.raises(tf.errors.PermissionDeniedError, match="may not touch"):
            run_imported(build)
    assert (folders[1] / "words.txt").read_text() == "a\nb\n"


def test_nodes_of_the_program_itself_are_free(folders):
    tf.config.set_graph_file_roots([])
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.read_file(str(folders[1] / "words.txt"))) == b"a\nb\n"


def test_paths_that_the_program_gives_a_saver_are_free(tmp_path):
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(3.0, name="v")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, prefix)
    tf.config.set_graph_file_roots([])
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        saver.restore(session, prefix)
        assert session.run("v:0") == 3.0
        saver.save(session, prefix)
        with pytest.raises(tf.errors.PermissionDeniedError):
            session.run("save/restore_all", {"save/Const:0": prefix})


def test_a_saved_model_reads_its_own_assets(folders):
    inside, _ = folders
    model = str(inside / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.placeholder(tf.string, [None], name="words")
        table = tf.contrib.lookup.index_table_from_file(str(inside / "words.txt"))
        ids = tf.identity(table.lookup(words), name="ids")
        session.run(tf.tables_initializer())
        tf.saved_model.simple_save(
            session, model, {"w": words}, {"i": ids}, legacy_init_op=tf.tables_initializer()
        )
    tf.config.set_graph_file_roots([])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], model)
        assert session.run("ids:0", {"words:0": ["b", "a"]}).tolist() == [1, 0]


def test_an_asset_outside_of_the_saved_model_is_refused(folders):
    inside, _ = folders
    model = str(inside / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.constant(str(inside / "words.txt"))
        builder = tf.saved_model.Builder(model)
        main_op = tf.group(tf.read_file(path))
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=[path], main_op=main_op
        )
        builder.save()
    file = inside / "model" / "saved_model.pb"
    message = SavedModel.FromString(file.read_bytes())
    (packed,) = message.meta_graphs[0].collection_def["saved_model_assets"].any_list.value
    asset = AssetFileDef.FromString(packed.value)
    asset.filename = "../../words.txt"
    packed.value = asset.SerializeToString()
    file.write_bytes(message.SerializeToString())
    refused = pytest.raises(tf.errors.PermissionDeniedError, match=r"\.\./\.\./words.txt")
    with tf.Graph().as_default(), tf.Session() as session, refused:
        tf.saved_model.loader.load(session, ["serve"], model)


def test_the_environment_limits_from_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv(file_limits.VARIABLE, f"{tmp_path}:/nowhere")
    assert file_limits._from_environment() == (str(tmp_path), "/nowhere")
    monkeypatch.delenv(file_limits.VARIABLE)
    assert file_limits._from_environment() is None
