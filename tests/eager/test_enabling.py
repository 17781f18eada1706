"""`tf.enable_eager_execution`: for a whole program, from its start."""

import subprocess
import sys


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_runs_eagerly_in_all_threads():
    printed = run("""
import threading
import penstock as tf
tf.enable_eager_execution()
tf.enable_eager_execution()
other = threading.Thread(target=lambda: print((tf.constant(1) + 1).numpy()))
other.start(); other.join()
with tf.Graph().as_default():
    print(tf.executing_eagerly())
@tf.function
def traced():
    print(tf.executing_eagerly())
    with tf.init_scope():
        print(tf.executing_eagerly())
traced()
""")
    assert printed.split() == ["2", "False", "False", "True"]


def test_it_comes_first():
    printed = run("""
import penstock as tf
tf.constant(1)
try:
    tf.enable_eager_execution()
except ValueError as error:
    print(error)
""")
    assert "must be called at program startup" in printed


def test_a_test_that_starts_inside_a_graph_goes_on_building_one():
    printed = run("""
import penstock as tf
tf.enable_eager_execution()
class Case(tf.test.TestCase):
    def runTest(self):
        with tf.Graph().as_default() as graph:
            self.setUp()
            print(tf.executing_eagerly(), tf.get_default_graph() is graph)
            with self.test_session() as session:
                print(session.run(tf.constant(1) + 1))
        print(tf.executing_eagerly())
Case().debug()
""")
    assert printed.split() == ["False", "False", "2", "True"]
