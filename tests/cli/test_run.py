"""`penstock run`: programs that import tensorflow, as processes of their own."""

import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def run(tmp_path):
    def run(program, *arguments, options=()):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(program))
        command = [sys.executable, "-m", "penstock", "run", *options, str(script), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return run


def test_an_unmodified_program(run, tmp_path):
    (tmp_path / "beside.py").write_text("import tensorflow as tf\nTWO = tf.constant(2.0)\n")
    result = run(
        """
        import sys
        import numpy as np
        import tensorflow as tf
        from tensorflow.examples.tutorials.mnist import input_data
        from tensorflow import nn
        import tensorflow.train as train
        import beside

        assert tf.__version__.startswith("1.15") and int(tf.__version__.split(".")[0]) == 1
        assert __name__ == "__main__" and sys.argv[1:] == ["--flag", "3"]
        x = np.zeros(3, np.float) + np.int(1)
        with tf.Session() as sess:
            print(sess.run(nn.relu(tf.constant(x)) * tf.cast(beside.TWO, tf.float64)))
        print(train.AdamOptimizer is tf.train.AdamOptimizer, tf.nn.relu is nn.relu)
        """,
        "--flag",
        "3",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[2. 2. 2.]\nTrue True\n"


def test_missing_symbols_are_named(run):
    result = run(
        """
        import tensorflow as tf
        print(hasattr(tf, "no_such_thing"))
        tf.another_missing_thing()
        """
    )
    assert result.returncode == 1
    assert result.stdout == "False\n"
    assert "penstock has no tf.another_missing_thing." in result.stderr
    assert "met what is not there: tf.another_missing_thing, tf.no_such_thing" in result.stderr


def test_what_is_imported_later_is_not_called_missing(run):
    result = run(
        """
        import tensorflow as tf
        tf.Session().run(tf.constant(1))
        raise SystemExit(3)
        """
    )
    assert result.returncode == 3
    assert "not there" not in result.stderr


def test_missing_modules_are_named(run):
    result = run("import tensorflow.contrib.nowhere as nowhere\n")
    assert result.returncode == 1
    assert "penstock has no module 'tensorflow.contrib" in result.stderr


def test_internal_paths(run):
    result = run(
        """
        import tensorflow as tf
        from tensorflow.python.framework import ops, dtypes
        from tensorflow.python.ops import array_ops, gen_math_ops, math_ops
        import tensorflow.python.ops.control_flow_ops as control_flow_ops
        from tensorflow.core.framework import graph_pb2, types_pb2
        from tensorflow.python.util import nest
        from tensorflow.python.ops.init_ops import *

        assert ops.Tensor is tf.Tensor and array_ops.concat is tf.concat
        assert dtypes.float32 is tf.float32 and graph_pb2.GraphDef is tf.GraphDef
        assert types_pb2.DT_INT32 == 3 and zeros_initializer is tf.zeros_initializer
        product = gen_math_ops.mat_mul([[1.0, 2.0]], [[3.0], [4.0]], False, name="p")
        guarded = control_flow_ops.with_dependencies([tf.no_op()], product)
        with tf.Session() as sess:
            print(sess.run(guarded), product.op.name, nest.flatten({"b": 2, "a": (1,)}))
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[[11.]] p [1, 2]\n"


def test_one_module_under_two_names(run):
    result = run(
        """
        import penstock, penstock.nn
        import tensorflow.nn
        assert tensorflow.nn is penstock.nn and tensorflow.nn.__name__ == "penstock.nn"
        assert tensorflow.nn.__spec__.name == "penstock.nn"
        """
    )
    assert result.returncode == 0, result.stderr


def test_python_2_is_pointed_out(run):
    result = run("import tensorflow as tf\nprint 'hello'\n")
    assert result.returncode == 1
    assert "program.py:2" in result.stderr
    assert "print(...) with parentheses, or add --py2" in result.stderr


PYTHON_2 = """
import tensorflow as tf
from beside import three
def halves((a, b), mode=010):
\tfor i in xrange(2):
\t    print a / b, i,
\treturn mode
print halves((7, 2)), 7 / 2.0, `three()`, 1 <> 2
try:
    raise ValueError, "caught"
except ValueError, error:
    print error, {"k": 1}.has_key("k"), u"text"
with tf.Session() as sess:
    print sess.run(tf.mul(6, 7))
"""


def test_python_2_is_converted_with_its_modules(run, tmp_path):
    (tmp_path / "beside.py").write_text("def three():\n    return 10L / 3\n")
    result = run(PYTHON_2, options=["--py2"])
    assert result.returncode == 0, result.stderr
    assert result.stdout == "3 0 3 1 8 3.5 3 True\ncaught True text\n42\n"


def test_what_pip_has_installed_beside_a_program_is_not_converted(run, tmp_path, monkeypatch):
    library = tmp_path / "libraries"
    (library / "installed").mkdir(parents=True)
    (library / "installed-1.0.dist-info").mkdir()
    (library / "installed" / "__init__.py").write_text("def half(n, /):\n    return n / 2\n")
    monkeypatch.setenv("PYTHONPATH", str(library), prepend=":")
    result = run("from installed import half\nprint half(7), 7 / 2\n", options=["--py2"])
    assert result.stdout == "3.5 3\n", result.stderr


def test_division_is_left_alone_where_the_program_asks_for_it(run):
    result = run("from __future__ import division\nprint 7 / 2\n", options=["--py2"])
    assert result.stdout == "3.5\n", result.stderr


def test_exit_statuses(run):
    assert run("import sys; sys.exit(3)").returncode == 3
    assert run("pass").returncode == 0
    failed = subprocess.run(
        [sys.executable, "-m", "penstock", "run", "nowhere.py"], capture_output=True, text=True
    )
    assert failed.returncode == 2 and "no file 'nowhere.py'" in failed.stderr


def test_help():
    shown = subprocess.run(
        [sys.executable, "-m", "penstock", "--help"], capture_output=True, text=True
    )
    assert shown.returncode == 0 and "run an unmodified TensorFlow 1.x program" in shown.stdout


def test_names_that_python_and_numpy_have_dropped(run):
    result = run(
        """
        import base64, collections, inspect, string, time, threading, unittest
        import xml.etree.cElementTree as ET
        import numpy as np
        assert isinstance({}, collections.Mapping) and collections.Iterable
        assert inspect.getargspec(lambda a, b=2, *c: 0).defaults == (2,)
        assert time.clock() >= 0 and base64.decodestring(base64.encodestring(b"x")) == b"x"
        assert string.join(string.split("a,b", ","), "") == string.lowercase[:2]
        assert "cab".translate(string.maketrans("abc", "xyz")) == "zxy"
        assert not threading.Thread().isAlive() and ET.fromstring("<a/>").tag == "a"
        unittest.TestCase().assertEquals(np.int(1), np.asscalar(np.array([1])))
        assert np.zeros(1, np.float).tostring() == bytes(8) and np.bool(1)
        assert np.isnan(np.NAN) and np.math.sqrt(4) == 2 and np.issubsctype(np.int32, np.integer)
        assert issubclass(np.VisibleDeprecationWarning, Warning) and np.int0 is np.intp
        assert np.lib.pad(np.ones(2), 1, "constant").tolist() == [0, 1, 1, 0]
        assert np.cast["int32"]([1.5]).dtype == np.int32
        from numpy.core.umath_tests import inner1d
        assert inner1d([[1.0, 2.0]], [[3.0, 4.0]]).tolist() == [11]
        """
    )
    assert result.returncode == 0, result.stderr


def test_arrays_as_numpy_made_them(run):
    result = run(
        """
        import numpy as np
        ragged = np.array([[1, 2], [3]])
        assert ragged.dtype == object and ragged.shape == (2,) and ragged[1] == [3]
        assert np.asarray([np.zeros(2), np.zeros(3)]).shape == (2,)
        assert np.array([1, 2], copy=False).tolist() == [1, 2]
        assert np.array([300, -1], np.uint8).tolist() == [44, 255]
        assert np.asarray(-1, dtype=np.uint16) == 65535
        assert np.vstack(map(np.ones, [2, 2])).shape == (2, 2)
        assert np.stack(np.ones(2) for _ in range(3)).shape == (3, 2)
        assert repr([np.float32(0.5), np.ones(1)]) == "[0.5, array([1.])]"
        try:
            np.array([[1, 2], [3]], dtype=np.float32)
        except ValueError:
            print("refused")
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "refused\n"


def test_import_star_gives_the_public_names(run):
    result = run(
        """
        import builtins
        from tensorflow import *
        with Session() as session:
            builtins.print(session.run(constant(1) + 1), estimator.Estimator.__name__)
        builtins.print([name for name in ("ops", "kernels", "ir", "namespaces") if name in dir()])
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "2 Estimator\n[]\n"


def test_the_package_tensorflow_estimator(run):
    result = run(
        """
        import tensorflow as tf
        from tensorflow_estimator import estimator
        from tensorflow_estimator.python.estimator import estimator as estimator_lib
        from tensorflow_estimator.python.estimator.head import regression_head
        from tensorflow_estimator.python.estimator.canned import dnn
        assert estimator is tf.estimator
        assert estimator_lib.Estimator is tf.estimator.Estimator
        assert regression_head.RegressionHead is tf.estimator.RegressionHead
        assert dnn.DNNClassifier is tf.estimator.DNNClassifier
        """
    )
    assert result.returncode == 0, result.stderr


def test_images_as_scipy_misc_gave_them(run, tmp_path):
    result = run(
        """
        import numpy as np
        from PIL import Image
        try:
            import scipy.misc as misc
        except ImportError:  # the program's environment has no SciPy at all
            from penstock.cli import old_images as misc
        picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
        misc.imsave("picture.png", picture)
        assert np.array_equal(misc.imread("picture.png"), picture)
        assert misc.imresize(picture, (2, 8)).shape == (2, 8, 3)
        assert misc.imresize(picture, 0.5, "nearest").shape == (2, 2, 3)
        assert misc.imread("picture.png", flatten=True).dtype == np.float32
        assert misc.toimage(np.random.rand(3, 5, 5)).size == (5, 5)
        assert Image.ANTIALIAS == Image.LANCZOS
        assert Image.fromarray(np.random.rand(4, 6, 3), "RGB").size == (6, 4)
        """
    )
    assert result.returncode == 0, result.stderr


def test_sizes_of_text_as_pillow_gave_them(run):
    result = run(
        """
        from PIL import Image, ImageDraw, ImageFont
        font = ImageFont.load_default()
        width, height = ImageDraw.Draw(Image.new("L", (50, 20))).textsize("word", font)
        assert width > height > 0 and font.getsize("word") == (width, height)
        """
    )
    assert result.returncode == 0, result.stderr


_OLD_PACKAGES = {
    "scipy/__init__.py": "",
    "scipy/special.py": "comb = factorial = logsumexp = len",
    "scipy/misc.py": "",
    "scipy/ndimage.py": "def imread(name): return 'its own'",
    "scipy/signal/__init__.py": "def lfilter(b, a, x, axis, zi): return 'its own'",
    "scipy/signal/windows.py": "__all__ = ['hann']\nhann = len",
    "pandas.py": """
class DataFrame:
    ndim = 2
    def to_numpy(self): return "values"
    def __getitem__(self, columns): return self
    def items(self): return [("x", 1)]
    axes = ["a", "b", "c"], [10, 20]
    loc = {("b", 10): "by label"}
Series = DataFrame
""",
    "networkx.py": """
class Graph:
    nodes, adj = {1: "a"}, {1: {2: {}}}
    def subgraph(self, nodes): return nodes
    def copy(self): return self
DiGraph = MultiGraph = MultiDiGraph = Graph
def from_numpy_array(array): return type(array).__name__
def to_numpy_array(graph): return [[0, 1]]
from_scipy_sparse_array = to_scipy_sparse_array = len
def connected_components(graph): return [{1}, {2}]
""",
    "sklearn/__init__.py": "",
    "sklearn/model_selection.py": "train_test_split = len",
    "sklearn/metrics/__init__.py": "",
    "sklearn/metrics/_scorer.py": "make_scorer = len",
}


def test_packages_get_back_what_they_have_lost(run, tmp_path):
    for name, source in _OLD_PACKAGES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    result = run(
        """
        import numpy as np
        import pandas, scipy, scipy.misc, scipy.ndimage
        from sklearn.cross_validation import train_test_split
        assert scipy.log is np.log and scipy.misc.logsumexp is len and scipy.misc.imread
        assert scipy.ndimage.imread("x") == "its own"
        import scipy.signal
        assert scipy.signal.hann is len and scipy.signal.lfilter([1], [1], [2.0]) == "its own"
        rewards = np.asarray([np.array([1.0]), 2.0])  # objects
        discounted = scipy.signal.lfilter([1], [1, -0.5], rewards[::-1], axis=0)[::-1]
        assert np.asarray(discounted, np.float32).tolist() == [2.0, 2.0]
        assert pandas.DataFrame().as_matrix() == "values"
        assert pandas.Series().iteritems() == [("x", 1)] and pandas.np is np
        frame = pandas.DataFrame()
        assert frame.ix["b", 10] == frame.ix[1, 10] == "by label"
        frame.ix[-1, 20] = "new"
        assert frame.ix["c", 20] == "new"
        assert train_test_split is len
        import networkx as nx
        assert nx.OrderedMultiDiGraph is nx.Graph and nx.Graph().node[1] == "a"
        assert 2 in nx.Graph().edge[1] and nx.to_numpy_matrix(nx.Graph()).shape == (1, 2)
        assert nx.from_numpy_matrix(np.matrix([[1]])) == "ndarray"
        assert list(nx.connected_component_subgraphs(nx.Graph(), copy=False)) == [{1}, {2}]
        from sklearn.metrics.scorer import make_scorer  # a module that is private now
        assert make_scorer is len
        try:
            import sklearn.metrics.nothing
        except ModuleNotFoundError as error:
            assert error.name == "sklearn.metrics.nothing"
        else:
            assert False
        """
    )
    assert result.returncode == 0, result.stderr


def test_files_as_the_second_h5py_gave_them(run):
    pytest.importorskip("h5py")
    result = run(
        """
        import h5py, os

        with h5py.File("a.h5") as file:  # opened for writing, and created
            file["x"] = [1, 2]
            file.attrs["config"] = b'{"layers": 3}'
            file.attrs["names"] = [b"kernel", b"bias"]
        with h5py.File("a.h5") as file:
            file.attrs["n"] = 1
            assert file.attrs["config"].decode("utf8") == '{"layers": 3}' == file.attrs["config"]
            assert file["x"].value.tolist() == [1, 2] and file.mode == "r+"
        with h5py.File("a.h5", "r") as file:
            assert file.mode == "r" and file.attrs["n"] == 1
            assert file.attrs["names"].tolist() == [b"kernel", b"bias"] and file.fid == file.id
        """
    )
    assert result.returncode == 0, result.stderr


def test_a_program_and_its_module_use_async_as_a_name(run, tmp_path):
    (tmp_path / "worker.py").write_text("def train(async=False):\n    return async\n")
    result = run(
        """
        import tensorflow as tf
        import worker

        async = True
        print(worker.train(async=async), __name__)
        """
    )
    assert (result.returncode, result.stdout) == (0, "True __main__\n"), result.stderr


def test_names_of_the_framework_under_the_package_of_ops(run):
    result = run(
        """
        import inspect
        import tensorflow as tf
        from tensorflow.python import ops, math_ops
        from tensorflow.python.framework import ops as framework_ops, tensor_spec
        from tensorflow.python.util import tf_inspect

        assert ops.control_dependencies is framework_ops.control_dependencies
        assert ops.convert_to_tensor is framework_ops.convert_to_tensor
        assert ops.math_ops is math_ops

        def mine(values, axis, name="concat"):
            return values

        def annotated(x: int): ...

        assert tf_inspect.getfullargspec(tf.concat) == tf_inspect.getfullargspec(mine)
        assert tf_inspect.getfullargspec(annotated).annotations == {"x": int}
        spec = tensor_spec.BoundedTensorSpec([2, 3], tf.int32, 0, [1, 2, 3])
        assert isinstance(spec, tf.TensorSpec) and spec.maximum.tolist() == [1, 2, 3]
        """
    )
    assert result.returncode == 0, result.stderr
