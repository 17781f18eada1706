"""Words of a Philox stream turned into numbers of a distribution, in the order of TensorFlow's.

Bit for bit TensorFlow's but for the last place of logarithm, sine and cosine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from penstock.kernels.philox import Stream

Sampler = Callable[[Stream, int, torch.dtype, torch.device], torch.Tensor]

_SMALLEST = 1e-7  # stands for a uniform number of zero, whose logarithm there is not
_BOUND = 2.0  # of truncated normal numbers
BLOCKS_PER_OUTPUT = 256  # a run takes this much of its stream per number, used or not

# A float of [1, 2) is made of random bits of mantissa: their mask, and the bits of 1.0.
_MANTISSA = {
    torch.float32: (0x7FFFFF, 0x3F800000),
    torch.float16: (0x3FF, 0x3C00),
    torch.bfloat16: (0x7F, 0x3F80),
}


def reserved(count: int) -> int:
    """The blocks of its stream that a run takes which draws `count` numbers."""
    return count * BLOCKS_PER_OUTPUT


def _words(stream: Stream, blocks: int, device: torch.device) -> torch.Tensor:
    if device.type == "cpu":
        return torch.from_numpy(stream.words(blocks).view(np.int32))
    return stream.words_on(torch.arange(blocks, device=device))


def _words_at(stream: Stream, offsets: torch.Tensor) -> torch.Tensor:
    if offsets.device.type == "cpu":
        return torch.from_numpy(stream.words_at(offsets.numpy()).view(np.int32))
    return stream.words_on(offsets)


def _blocks(count: int, dtype: torch.dtype) -> int:
    return -(-count // (2 if dtype is torch.float64 else 4))


# Uniform --------------------------------------------------------------------------------------


def uniform(stream: Stream, count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """`count` numbers of [0, 1)."""
    words = _words(stream, _blocks(count, dtype), device).view(-1)
    return _unit(words, dtype)[:count]


def _unit(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Words (overwritten) as numbers of [0, 1); two words make a number of double precision."""
    if dtype is torch.float64:
        pairs = words.view(torch.int64)
        upper = (pairs & 0xFFFFF).bitwise_left_shift_(32)
        bits = (pairs >> 32).bitwise_and_(0xFFFFFFFF).bitwise_or_(upper)
        return bits.bitwise_or_(0x3FF << 52).view(torch.float64).sub_(1)
    mask, one = _MANTISSA[dtype]
    bits = words.bitwise_and_(mask).bitwise_or_(one)
    if dtype is not torch.float32:
        bits = bits.to(torch.int16)
    return bits.view(dtype).sub_(1)


def uniform_integers(stream: Stream, count: int, low: int, high: int, dtype: type) -> torch.Tensor:
    """`count` integers of [low, high), in host memory."""
    drawn = full_integers(stream, count, dtype)
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    drawn = drawn.view(unsigned) % unsigned.type(high - low)
    drawn += unsigned.type(low % 2 ** (8 * unsigned.itemsize))
    return torch.from_numpy(drawn.view(dtype))


def full_integers(stream: Stream, count: int, dtype: type) -> np.ndarray:
    """`count` integers, each number of a 32- or 64-bit type being equally likely."""
    per_block = 16 // np.dtype(dtype).itemsize
    words = stream.words(-(-count // per_block)).reshape(-1)
    return words.view(dtype)[:count]


# Normal ---------------------------------------------------------------------------------------


def normal(stream: Stream, count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """`count` standard normal numbers."""
    words = _words(stream, _blocks(count, dtype), device)
    return normal_blocks(words, dtype).view(-1)[:count].to(dtype)


def normal_blocks(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Blocks of words (overwritten) as blocks of standard normal numbers, in pairs (Box–Muller).

    In single precision unless `dtype` is double. The functions are computed in double precision
    all the same and rounded, which is what a good library for single precision gives.
    """
    precision = torch.float64 if dtype is torch.float64 else torch.float32
    pairs_per_block = 1 if precision is torch.float64 else 2
    units = _unit(words.view(-1), precision).view(*words.shape[:-1], pairs_per_block, 2).unbind(-1)
    logarithm = units[0].clamp_min_(_SMALLEST).double().log_().to(precision)
    radius = logarithm.double().mul_(-2).sqrt_().to(precision)
    angle = units[1].double().mul_(2 * math.pi).to(precision).double()
    pairs = torch.stack((angle.sin(), angle.cos()), dim=-1).to(precision)
    return pairs.mul_(radius.unsqueeze(-1)).flatten(-2)


def truncated_normal(
    stream: Stream, count: int, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """`count` standard normal numbers of (-2, 2).

    Each group of as many numbers as a block holds draws from a part of the stream of its own, and
    takes the first numbers there that lie in the interval.
    """
    group = 2 if dtype is torch.float64 else 4
    starts = torch.arange(_blocks(count, dtype), device=device) * (group * BLOCKS_PER_OUTPUT // 4)
    numbers = normal_blocks(_words_at(stream, starts), dtype)
    incomplete = (numbers.abs() >= _BOUND).any(dim=-1).nonzero().view(-1)
    blocks = 4
    while len(incomplete):
        offsets = starts[incomplete].unsqueeze(-1) + torch.arange(blocks, device=device)
        tried = normal_blocks(_words_at(stream, offsets), dtype).flatten(-2)
        rejected = tried.abs() >= _BOUND
        first = rejected.sort(dim=-1, stable=True).indices[:, :group]
        numbers[incomplete] = tried.gather(-1, first)
        incomplete = incomplete[(~rejected).sum(dim=-1) < group]
        blocks *= 2
    return numbers.view(-1)[:count].to(dtype)


# Order ----------------------------------------------------------------------------------------


def shuffled(stream: Stream, count: int) -> list[int]:
    """A permutation of `range(count)`: each entry in turn changes places with a later one."""
    words = stream.words(-(-count // 4)).reshape(-1)[: count - 1]
    later = np.arange(count, 1, -1, dtype=np.uint32)
    targets = (np.arange(count - 1) + words % later).tolist()
    order = list(range(count))
    for i, target in enumerate(targets):
        order[i], order[target] = order[target], order[i]
    return order
