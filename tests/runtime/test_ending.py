"""Programs that end while other threads run steps."""

import subprocess
import sys
import textwrap

import pytest

_PROGRAM = """
    import atexit, sys, threading
    import penstock as tf

    small = tf.constant(7.0) * 6.0
    atexit.register(lambda: print(session.run(small)))  # called after what a session registers
    server = tf.train.Server.create_local_server()
    session = tf.Session({target})
    square = tf.random_normal([300, 300])
    result = square
    for _ in range(10):
        result = tf.tanh(tf.matmul(result, square))
    queue = tf.FIFOQueue(1, tf.float32)
    taken = queue.dequeue()
    session.run(result)
    begun = threading.Semaphore(0)

    def run(fetch, options=None):
        while True:
            begun.release()
            session.run(fetch, options=options)

    limited = tf.RunOptions(timeout_in_ms=60000)
    for arguments in (result,), (result,), (result, limited), (taken,):
        threading.Thread(target=run, args=arguments, daemon=True).start()
    for _ in range(12):
        begun.acquire()
    sys.exit(3)
"""


@pytest.mark.parametrize("target", ["''", "server.target"])
def test_steps_of_other_threads_do_not_abort_the_process(target: str) -> None:
    program = textwrap.dedent(_PROGRAM).format(target=target)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 3, result.stderr
    assert result.stdout.strip() == "42.0"
    assert "Fatal" not in result.stderr
