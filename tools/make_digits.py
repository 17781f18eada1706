"""Write the bundled digits from scikit-learn's copy of them.

scikit-learn is needed by this program alone, so it is no dependency of Penstock. From the
repository's root, with an environment outside it:

    python3 -m venv /tmp/sklearn && /tmp/sklearn/bin/pip install scikit-learn
    /tmp/sklearn/bin/python tools/make_digits.py penstock/examples/tutorials/mnist/data
"""

import argparse
import gzip
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

# The files keep the digits in an order drawn once from this seed. In the source's own order
# neighbours resemble each other, and the split takes the last ones for the test set: the README
# beside the files says what that would change.
ORDER_SEED = 0


def write_idx(path: Path, array: np.ndarray) -> None:
    """Write an array of bytes as a gzipped idx file, the same bytes on every run."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 0x08, array.ndim, *array.shape)
    # No time and no file name in the gzip header: the output depends on the digits alone.
    with (
        open(path, "wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as stream,
    ):
        stream.write(header + array.astype(np.uint8).tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory

    digits = load_digits()
    order = np.random.RandomState(ORDER_SEED).permutation(len(digits.target))
    write_idx(directory / "digits-images-idx3-ubyte.gz", digits.images[order])
    write_idx(directory / "digits-labels-idx1-ubyte.gz", digits.target[order])


if __name__ == "__main__":
    main()
