"""A program may end without closing its sessions: it ends all the same."""

import subprocess
import sys

PROGRAM = """
import penstock as tf

config = tf.ConfigProto()
config.rpc_options.use_rpc_for_inprocess_master = True
server = tf.train.Server.create_local_server()
session = tf.Session(server.target, config=config)
print(session.run(tf.constant(3) + 1))
"""


def test_a_program_that_leaves_a_session_open_ends():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "4\n"
