"""Compiles penstock/proto/schemas/*.proto into penstock/proto/schemas.binpb (`make protos`).

Needs grpcio-tools, which carries the protobuf compiler.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from importlib.resources import files

from grpc_tools import protoc

PROTO = pathlib.Path(__file__).resolve().parent.parent / "penstock" / "proto"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=PROTO / "schemas.binpb")
    output = parser.parse_args().output
    schemas = sorted(path.name for path in (PROTO / "schemas").glob("*.proto"))
    well_known = files("grpc_tools") / "_proto"
    return int(
        protoc.main(
            [
                "protoc",
                f"--proto_path={PROTO / 'schemas'}",
                f"--proto_path={well_known}",
                "--include_imports",
                f"--descriptor_set_out={output}",
                *schemas,
            ]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
