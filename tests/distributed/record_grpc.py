"""Records what a real TensorFlow client and server say to each other.

    python tests/distributed/record_grpc.py PYTHON tests/distributed/data/NAME.json

PYTHON is an interpreter that has TensorFlow. The program tests/distributed/wire_program.py runs
there against a server there, through a proxy here that writes down each request and its answer.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pathlib
import subprocess
import threading
from concurrent import futures
from typing import Any

import grpc

PROGRAM = pathlib.Path(__file__).with_name("wire_program.py")
SERVER = """
import sys
import tensorflow.compat.v1 as tf
server = tf.train.Server({"local": ["localhost:0"]}, job_name="local", task_index=0)
print(server.target, flush=True)
sys.stdin.read()
import os
os._exit(0)
"""
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


class Recorder(grpc.GenericRpcHandler):
    """Passes calls on to a server and keeps requests and answers."""

    def __init__(self, target: str):
        self._channel = grpc.insecure_channel(target.removeprefix("grpc://"))
        self._lock = threading.Lock()
        self.calls: list[dict[str, Any]] = []

    def service(self, details: Any) -> Any:
        forward = self._channel.unary_unary(details.method)
        name = details.method.rpartition("/")[2]

        def answer(request: bytes, context: Any) -> bytes:
            with self._lock:  # calls stay in their order
                call: dict[str, Any] = {"method": name, "request": _text(request)}
                self.calls.append(call)
                try:
                    response = forward(request)
                except grpc.RpcError as error:
                    call["status"] = [error.code().value[0], error.details()]
                    context.abort(error.code(), error.details())
                call["response"] = _text(response)
                return response

        return grpc.unary_unary_rpc_method_handler(answer)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def record(python: str) -> dict[str, Any]:
    with subprocess.Popen(
        [python, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=QUIET
    ) as server:
        assert server.stdout is not None
        recorder = Recorder(server.stdout.readline().strip())
        proxy = grpc.server(futures.ThreadPoolExecutor(8), handlers=[recorder])
        port = proxy.add_insecure_port("127.0.0.1:0")
        proxy.start()
        command = [python, str(PROGRAM), f"grpc://127.0.0.1:{port}"]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=QUIET)
        proxy.stop(None).wait()
        server.communicate("")
    return {"outcomes": json.loads(client.stdout), "calls": recorder.calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="an interpreter that has TensorFlow")
    parser.add_argument("output", type=pathlib.Path, help="the file to write")
    options = parser.parse_args()
    recorded = record(options.python)
    options.output.write_text(json.dumps(recorded, indent=1) + "\n")
    for label, value in recorded["outcomes"].items():
        print(f"{label}: {str(value)[:100]}")


if __name__ == "__main__":
    main()
