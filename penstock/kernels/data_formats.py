"""The kernels of dimensions and vectors of images in another order."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel


def _formats(node):
    """Both formats, which must have the same letters."""
    source, target = (node.attrs[key] for key in ("src_format", "dst_format"))
    if len(source) not in (4, 5):
        raise InvalidArgumentError(
            None, None, f"Source format must be of length 4 or 5, received src_format = {source}"
        )
    if sorted(source) != sorted(target):
        raise InvalidArgumentError(
            None,
            None,
            "Destination and source format must determine a permutation, got "
            f"{source} and {target}",
        )
    return source, target


@kernel("DataFormatDimMap", fresh=True)
def _(node):
    source, target = _formats(node)
    table = torch.tensor([target.index(letter) for letter in source])

    def run(x):
        rank = len(source)
        if bool(((x < -rank) | (x >= rank)).any()):
            raise InvalidArgumentError(None, None, f"dimensions are in [-{rank}, {rank})")
        return table.to(x.device)[x.long() % rank].to(x.dtype)

    return run


@kernel("DataFormatVecPermute", fresh=True)
def _(node):
    source, target = _formats(node)

    def run(x):
        size = x.shape[0] if x.dim() else 0
        spatial = len(source) - 2
        if x.dim() not in (1, 2) or size not in (spatial, len(source)):
            raise InvalidArgumentError(
                None,
                None,
                f"1D input must be of size {spatial} or {len(source)}, but got shape "
                f"{list(x.shape)}",
            )
        if x.dim() == 2 and x.shape[1] != 2:
            raise InvalidArgumentError(
                None, None, f"Second dimension of 2D input must be of size 2, got {list(x.shape)}"
            )
        # A vector without entries for batch and channels names the spatial dimensions alone.
        left_out = "NC" if size == spatial else ""
        before = [letter for letter in source if letter not in left_out]
        after = [letter for letter in target if letter not in left_out]
        return x[[before.index(letter) for letter in after]]

    return run
