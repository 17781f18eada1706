"""Kernels of Fourier transforms."""

import torch

from penstock.kernels.known_inputs import known_list
from penstock.kernels.matrix_checks import invalid
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


def _register(rank, suffix):
    axes = tuple(range(-rank, 0))

    @kernel(f"FFT{suffix}", f"BatchFFT{suffix}", fresh=True)
    def _(node):
        return _complex(torch.fft.fftn, axes)

    @kernel(f"IFFT{suffix}", f"BatchIFFT{suffix}", fresh=True)
    def _(node):
        return _complex(torch.fft.ifftn, axes)

    @kernel(f"RFFT{suffix}", fresh=True)
    def _(node, env):
        return _with_length(node, env, axes, "Treal", "Tcomplex", _forward)

    @kernel(f"IRFFT{suffix}", fresh=True)
    def _(node, env):
        return _with_length(node, env, axes, "Tcomplex", "Treal", _backward)


def _complex(transform, axes):
    def run(x):
        _check_rank(x, axes)
        # ATen has no transform of nothing.
        return transform(x, dim=axes) if x.numel() else x.clone()

    return run


def _check_rank(x, axes):
    if x.dim() < len(axes):
        raise invalid(f"Input must have rank of at least {len(axes)} but got: {list(x.shape)}")


def _with_length(node, env, axes, given, wanted, transform):
    """A transform between real and complex numbers, of the length that its second input says."""
    source, target = node.attrs[given], node.attrs[wanted]
    if source.real_dtype != target.real_dtype:
        raise invalid(f"Wrong types for a real FFT: in={source.name} out={target.name}")
    target = torch_type(target)
    known = known_list(node, env, 1)

    def run(x, length):
        sizes = length.tolist() if known is None else known
        _check_rank(x, axes)
        if not isinstance(sizes, list) or len(sizes) != len(axes):
            raise invalid(f"fft_length must have shape [{len(axes)}]")
        for i, size in enumerate(sizes):
            if size < 0:
                raise invalid(f"fft_length[{i}] must >= 0, but got: {size}")
        return transform(x, sizes, axes, target)

    return run


def _check_sizes(x, needed):
    """The input must be long enough, or empty."""
    first = x.dim() - len(needed)
    for axis, size in enumerate(needed, start=first):
        if 0 < x.shape[axis] < size:
            raise invalid(
                f"Input dimension {axis} must have length of at least {size} but got: "
                f"{x.shape[axis]}"
            )


def _forward(x, sizes, axes, target):
    _check_sizes(x, sizes)
    if x.numel() and all(sizes):
        return torch.fft.rfftn(x, s=sizes, dim=axes)
    last = sizes[-1] // 2 + 1 if sizes[-1] else 0
    return torch.zeros((*x.shape[: -len(axes)], *sizes[:-1], last), dtype=target, device=x.device)


def _backward(x, sizes, axes, target):
    _check_sizes(x, [*sizes[:-1], sizes[-1] // 2 + 1])
    if x.numel() and all(sizes):
        return torch.fft.irfftn(x, s=sizes, dim=axes)
    return torch.zeros((*x.shape[: -len(axes)], *sizes), dtype=target, device=x.device)


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _register(_rank, _suffix)
