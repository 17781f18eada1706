"""Kernels of samples drawn by inversion and rejection, on the host.

TensorFlow's numbers where it runs on one thread; with more threads its samples of categories and
of truncated normal distributions depend on their number.
"""

import math

import numpy as np
import torch

from penstock import errors
from penstock.kernels.distributions import BLOCKS_PER_OUTPUT, normal_blocks, reserved
from penstock.kernels.random import generator_of, shape_reader, stateless_stream
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


def _units(words):
    """Blocks of words as pairs of numbers of [0, 1) in double precision."""
    words = words.astype(np.uint64)
    upper = (words[..., 0::2] & np.uint64(0xFFFFF)) << np.uint64(32)
    bits = upper | words[..., 1::2] | np.uint64(0x3FF << 52)
    return bits.view(np.float64) - 1.0


def _normals(words):
    """Blocks of words as pairs of standard normal numbers in double precision."""
    first, second = np.moveaxis(_units(words), -1, 0)
    radius = np.sqrt(-2.0 * np.log(np.maximum(first, 1e-7)))
    angle = 2.0 * math.pi * second
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=-1)


# Categories -----------------------------------------------------------------------------------


def _draw_categories(stream, logits, count, dtype):
    rows = logits.shape[0]
    scores = logits.double()
    finite = scores.isfinite()
    largest = scores.masked_fill(~finite, -math.inf).amax(dim=1, keepdim=True)
    weights = scores.sub_(largest).exp_().masked_fill_(~finite, 0.0)
    bounds = weights.cumsum(dim=1)
    units = _units(stream.words(-(-rows * count // 2))).reshape(-1)[: rows * count]
    wanted = torch.from_numpy(units).view(rows, count).to(bounds.device) * bounds[:, -1:]
    return torch.searchsorted(bounds, wanted, right=True).to(dtype)


def _check_categories(logits, num_samples):
    if logits.dim() != 2:
        raise errors.InvalidArgumentError(
            None, None, f"logits should be a matrix, got shape {list(logits.shape)}"
        )
    if num_samples.dim() != 0:
        raise errors.InvalidArgumentError(
            None, None, f"num_samples should be a scalar, got shape {list(num_samples.shape)}"
        )
    count = num_samples.item()
    if count < 0:
        raise errors.InvalidArgumentError(
            None, None, f"num_samples should be non-negative, got {count}"
        )
    if logits.shape[1] == 0 and logits.shape[0] * count > 0:
        raise errors.InvalidArgumentError(None, None, "num_classes should be positive, got 0")
    return count


@kernel("Multinomial", fresh=True)
def _(node, env):
    generator = generator_of(node, env)
    dtype = torch_type(node.attrs["output_dtype"])

    def run(logits, num_samples):
        count = _check_categories(logits, num_samples)
        rows = logits.shape[0]
        if rows * count == 0:
            return torch.empty((rows, count), dtype=dtype, device=logits.device)
        stream = generator.reserve(reserved(rows * (-(-count // 4) * 4) * 2))
        return _draw_categories(stream, logits, count, dtype)

    return run


@kernel("StatelessMultinomial", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["output_dtype"])

    def run(logits, num_samples, seed):
        count = _check_categories(logits, num_samples)
        if logits.shape[0] * count == 0:
            return torch.empty((logits.shape[0], count), dtype=dtype, device=logits.device)
        return _draw_categories(stateless_stream(seed), logits, count, dtype)

    return run


# Gamma and Poisson ----------------------------------------------------------------------------


class _Draws:
    """Uniform and normal numbers for many outputs at once, each from its own part of a stream.

    A block gives two numbers; the second one is used first.
    """

    def __init__(self, stream, outputs):
        self._stream = stream
        self._next_block = np.arange(outputs) * BLOCKS_PER_OUTPUT
        self._pairs = {make: np.empty((outputs, 2)) for make in (_units, _normals)}
        self._left = {make: np.zeros(outputs, np.int8) for make in (_units, _normals)}

    def uniform(self, outputs):
        return self._take(_units, outputs)

    def normal(self, outputs):
        return self._take(_normals, outputs)

    def _take(self, make, outputs):
        pairs, left = self._pairs[make], self._left[make]
        empty = outputs[left[outputs] == 0]
        if empty.size:
            pairs[empty] = make(self._stream.words_at(self._next_block[empty]))
            self._next_block[empty] += 1
            left[empty] = 2
        left[outputs] -= 1
        return pairs[outputs, left[outputs]]


def _gamma(stream, alpha):
    """One sample for each shape parameter (Marsaglia and Tsang)."""
    draws = _Draws(stream, alpha.size)
    samples = np.empty(alpha.size)
    exponential = np.flatnonzero(alpha == 1)
    samples[exponential] = -np.log1p(-draws.uniform(exponential))
    small = alpha < 1
    d = alpha + np.where(small, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    active = np.flatnonzero(alpha != 1)
    while active.size:
        x = draws.normal(active)
        v = 1 + c[active] * x
        positive = ~(v <= 0)
        tried, x, v = active[positive], x[positive], v[positive] ** 3
        u = draws.uniform(tried)
        near = u < 1 - 0.0331 * x**4
        accepted = near | (np.log(u) < 0.5 * x**2 + d[tried] * (1 - v + np.log(v)))
        samples[tried[accepted]] = (d[tried] * v)[accepted]
        active = np.setdiff1d(active, tried[accepted], assume_unique=True)
    lifted = np.flatnonzero(small)
    samples[lifted] *= draws.uniform(lifted) ** (1 / alpha[lifted])
    return samples


def _poisson(stream, rate):
    """One sample for each rate: by products of uniform numbers, or by rejection if it is large."""
    draws = _Draws(stream, rate.size)
    samples = np.where(rate > 0, rate, 0 * rate.clip(max=0))  # stays for infinity and not-a-number
    _small_poisson(draws, rate, np.flatnonzero((rate > 0) & (rate < 10)), samples)
    _large_poisson(draws, rate, np.flatnonzero((rate >= 10) & np.isfinite(rate)), samples)
    return samples


def _small_poisson(draws, rate, active, samples):
    samples[active] = 0
    bound, product = np.exp(-rate), np.ones(rate.size)
    while active.size:
        product[active] *= draws.uniform(active)
        active = active[product[active] > bound[active]]
        samples[active] += 1


def _large_poisson(draws, rate, active, samples):
    """W. Hörmann, The transformed rejection method for generating Poisson variables (1993)."""
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while active.size:
        mean, wide, slope = rate[active], b[active], a[active]
        u = draws.uniform(active) - 0.5
        v = draws.uniform(active)
        tail = 0.5 - np.abs(u)
        k = np.floor((2 * slope / tail + wide) * u + mean + 0.43)
        quick = (tail >= 0.07) & (v <= 0.9277 - 3.6224 / (wide - 2))
        hopeless = (k < 0) | ((tail < 0.013) & (v > tail))
        left = np.log(v * inverse_alpha[active] / (slope / tail**2 + wide))
        log_factorial = torch.lgamma(torch.from_numpy(np.maximum(k, 0) + 1)).numpy()
        accepted = quick | (~hopeless & (left <= -mean + k * np.log(mean) - log_factorial))
        samples[active[accepted]] = k[accepted]
        active = active[~accepted]


def _sampled(node, env, draw, dtype):
    """A kernel that draws, for each parameter, a tensor of samples of the shape input's shape."""
    read = shape_reader(node, env)
    generator = generator_of(node, env)

    def run(shape, parameter):
        sizes = read(shape)
        parameters = parameter.double().cpu().numpy().reshape(-1)
        each = math.prod(sizes)
        count = each * parameters.size
        stream = generator.reserve(reserved(count))
        with np.errstate(all="ignore"):
            drawn = draw(stream, np.repeat(parameters, each))
        samples = torch.from_numpy(drawn).view(parameters.size, each).t()
        return env.to_device(_cast(samples, dtype).reshape((*sizes, *parameter.shape)))

    return run


def _cast(samples, dtype):
    if dtype.is_floating_point:
        return samples.to(dtype)
    return samples.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).to(dtype)


@kernel("RandomGamma", fresh=True)
def _(node, env):
    return _sampled(node, env, _gamma, torch_type(node.attrs["T"]))


@kernel("RandomPoisson", "RandomPoissonV2", fresh=True)
def _(node, env):
    return _sampled(node, env, _poisson, torch_type(node.attrs["dtype"]))


@kernel("RandomGammaGrad", fresh=True)
def _(node):
    def run(alpha, sample):
        return torch._standard_gamma_grad(*torch.broadcast_tensors(alpha, sample))

    return run


# Truncated normal -----------------------------------------------------------------------------

_MOST_ROUNDS = 1000  # that a sample may take
_BATCH = 100  # samples of one distribution that are drawn in a row
_AT_ONCE = 1 << 14  # rounds


class _Truncated:
    """A normal distribution between bounds, in units of its deviation, and how to sample it.

    If most of the distribution lies between the bounds, normal numbers are drawn until one does.
    Else, on the side of the bound nearer to the mean, numbers are drawn evenly if the bounds are
    close, and from an exponential distribution if they are not (C. P. Robert, Simulation of
    truncated normal variables, 1995).
    """

    def __init__(self, mean, deviation, low, high, element):
        mean, deviation, low, high = (element(value) for value in (mean, deviation, low, high))
        finite = np.isfinite(low) or np.isfinite(high)
        if not (finite and deviation > 0 and low < high) and not np.isnan(mean):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid parameters: mean {mean}, standard deviation {deviation}, bounds {low} "
                f"and {high}",
            )
        if abs(low - mean) > abs(high - mean):
            low, high, deviation = high, low, -deviation
        self._element, self._mean, self._deviation = element, mean, deviation
        self._low, self._high = (low - mean) / deviation, (high - mean) / deviation
        self._root = np.sqrt(self._low**2 + element(4))
        self._tries = self._method()

    def _method(self):
        low, high, root, number = self._low, self._high, self._root, self._element
        if (low < -1.3 and high >= 0) or (high > 1.3 and low <= 0):
            return self._normal
        close = number(2) * np.exp(number(0.5) + low * (low - root) / number(4)) / (low + root)
        return self._even if high - low < close else self._exponential

    def draw(self, stream, count):
        """`count` samples, and the stream behind the blocks that they took."""
        found = []
        missing, rounds = count, 0
        while missing:
            if rounds > _MOST_ROUNDS * count:
                raise errors.InternalError(
                    None, None, "no number between the bounds was drawn in 1000 tries"
                )
            several = missing + 16
            numbers, accepted, blocks = self._tries(stream, several)
            taken = np.flatnonzero(accepted.reshape(-1))[:missing]
            missing -= len(taken)
            used = several if missing else taken[-1] // accepted.shape[-1] + 1
            stream = stream.skipped(used * blocks)
            rounds += used
            found.append(numbers.reshape(-1)[taken])
        return np.concatenate(found) * self._deviation + self._mean, stream

    def fill(self, stream, drawn, each):
        """Fills an array in batches of `each`; a batch starts with a round of its own.

        The rounds of many batches are tried at once. Returns the stream behind them.
        """
        done = 0
        while done < len(drawn):
            numbers, accepted, blocks = self._tries(stream, min(len(drawn) - done, _AT_ONCE))
            numbers, width = numbers.reshape(-1) * self._deviation + self._mean, accepted.shape[-1]
            good = np.flatnonzero(accepted.reshape(-1))
            used = 0
            while done < len(drawn):
                batch = drawn[done : done + each]
                first = np.searchsorted(good, used * width)
                taken = good[first : first + len(batch)]
                if len(taken) < len(batch):
                    break
                batch[:] = numbers[taken]
                done += len(batch)
                used = int(taken[-1]) // width + 1
            stream = stream.skipped(used * blocks)
            if not used:  # too few were accepted for a single batch
                batch = drawn[done : done + each]
                batch[:], stream = self.draw(stream, len(batch))
                done += len(batch)
        return stream

    def _block_units(self, stream, blocks):
        words = stream.words(blocks)
        if self._element is np.float64:
            return _units(words)
        return ((words & 0x7FFFFF) | 0x3F800000).view(np.float32) - np.float32(1)

    def _normal(self, stream, rounds):
        words = stream.words(rounds)
        if self._element is np.float64:
            numbers = _normals(words)
        else:
            numbers = _single_normals(words)
        return numbers, (numbers >= self._low) & (numbers <= self._high), 1

    def _even(self, stream, rounds):
        units = self._block_units(stream, 2 * rounds)
        numbers = units[0::2] * (self._high - self._low) + self._low
        nearest = max(self._low, self._element(0)) ** 2
        return numbers, units[1::2] <= np.exp((nearest - numbers**2) / self._element(2)), 2

    def _exponential(self, stream, rounds):
        units = self._block_units(stream, rounds)
        alpha = (self._low + self._root) / self._element(2)
        numbers = -np.log(units[:, 0::2]) / alpha + self._low
        distance = alpha - numbers if self._low < alpha else self._low - alpha
        likely = np.exp(-(distance**2) / self._element(2))
        return numbers, (units[:, 1::2] <= likely) & (numbers < self._high), 1


def _single_normals(words):
    return normal_blocks(torch.from_numpy(words.view(np.int32)), torch.float32).numpy()


def _parameters(values, rows):
    """The parameters of each row: given for each, or one for all."""
    names = ("means", "stdevs", "minvals", "maxvals")
    for name, value in zip(names, values, strict=True):
        if value.dim() > 1 or value.numel() not in (1, rows):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input {name} should have length 1 or shape[0], got shape: {list(value.shape)}",
            )
    columns = [value.double().expand(rows).tolist() for value in values]
    return list(zip(*columns, strict=True))


@kernel("ParameterizedTruncatedNormal", fresh=True)
def _(node, env):
    read = shape_reader(node, env)
    generator = generator_of(node, env)
    dtype = torch_type(node.attrs["dtype"])
    element = np.float64 if dtype is torch.float64 else np.float32

    def run(shape, *parameters):
        sizes = read(shape)
        count = math.prod(sizes)
        if not sizes:
            raise errors.InvalidArgumentError(None, None, "Shape tensor must not be empty, got []")
        if count == 0:
            return torch.empty(sizes, dtype=dtype, device=env.torch_device)
        if all(value.numel() == 1 for value in parameters):
            rows, each = -(-count // _BATCH), _BATCH
        else:
            rows, each = sizes[0], count // sizes[0]
        stream = generator.reserve(rows * 2 * _MOST_ROUNDS * (each + 3) // 4)
        with np.errstate(all="ignore"):
            drawn = _draw_rows(stream, _parameters(parameters, rows), each, count, element)
        return env.to_device(torch.from_numpy(drawn).view(sizes).to(dtype))

    return run


def _draw_rows(stream, parameters, each, count, element):
    drawn = np.empty(count, element)
    if len(set(parameters)) == 1:
        _Truncated(*parameters[0], element).fill(stream, drawn, each)
        return drawn
    known = {}
    for row, parameter in enumerate(parameters):
        if parameter not in known:
            known[parameter] = _Truncated(*parameter, element)
        part = drawn[row * each : (row + 1) * each]
        part[:], stream = known[parameter].draw(stream, len(part))
    return drawn
