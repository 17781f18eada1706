"""Makes the environments of the peers: `python -m benchmarks.setup_peers [--dir DIR]`.

PyTorch needs none: the peers that use it run in Penstock's own environment.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.frameworks import default_peers_directory, environment_python

REQUIREMENTS = {
    "tf": ("tensorflow-cpu==2.21.0", "numpy==2.4.6"),
    "jax": ("jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"),
}


def make_environment(directory: Path, environment: str, python: str) -> None:
    target = environment_python(directory, environment)
    if not target.exists():
        print(f"creating {directory / environment}", file=sys.stderr)
        subprocess.run([python, "-m", "venv", str(directory / environment)], check=True)
    requirements = REQUIREMENTS[environment]
    print(f"{environment}: installing {', '.join(requirements)}", file=sys.stderr)
    subprocess.run([str(target), "-m", "pip", "install", "--quiet", *requirements], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the environments of Penstock's peers.")
    parser.add_argument("--dir", type=Path, default=default_peers_directory())
    parser.add_argument("--python", default=sys.executable, help="the Python to make them with")
    parser.add_argument("--only", choices=sorted(REQUIREMENTS), help="make just this one")
    options = parser.parse_args()
    for environment in [options.only] if options.only else REQUIREMENTS:
        make_environment(options.dir.expanduser().absolute(), environment, options.python)


if __name__ == "__main__":
    main()
