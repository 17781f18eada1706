"""Kernels of whole files.

They read what is outside of the graph, so that a constant name must not make their result one: a
kernel that asks for the running step is never run ahead of it.
"""

from penstock import errors, shapes
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_scalar, string_vector
from penstock.platform.file_errors import file_errors
from penstock.platform.filesystem import glob, makedirs
from penstock.platform.paths import as_path, open_file


def _scalar(value, what):
    if value.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"{what} tensor must be scalar, but had shape: {shapes.text(value.shape)}"
        )
    return value.item()


@kernel("ReadFile", devices=HOST, step=True)
def _(node):
    def run(step, filename):
        name = _scalar(filename, "Input filename")
        with open_file(name, "rb") as file:
            return string_scalar(file.read())

    return run


@kernel("WriteFile", devices=HOST)
def _(node):
    def run(filename, contents):
        name = _scalar(filename, "Input filename")
        data = _scalar(contents, "Contents")
        directory = as_path(name).rpartition("/")[0]
        if directory:
            makedirs(directory)
        with file_errors(as_path(name)), open_file(name, "wb") as file:
            file.write(data)

    return run


@kernel("MatchingFiles", devices=HOST, step=True)
def _(node):
    def run(step, pattern):
        if pattern.ndim > 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Input patterns tensor must be scalar or vector, but had shape: "
                f"{shapes.text(pattern.shape)}",
            )
        found = [name for each in pattern.ravel() for name in glob(each)]
        return string_vector(sorted(name.encode("utf-8", "surrogateescape") for name in found))

    return run
