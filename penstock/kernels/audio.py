"""Kernels of sound."""

import math
import struct

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import HOST, kernel
from penstock.ops.audio import frequencies

_FULL_SCALE = 32768.0  # of a 16-bit sample
_FORMAT = struct.Struct("<HHIIHH")
_PCM, _BITS = 1, 16


def _invalid(message):
    return InvalidArgumentError(None, None, message)


# WAV files ------------------------------------------------------------------------------------


class _Reader:
    """Reads a file piece by piece; InvalidArgumentError where it ends too early."""

    def __init__(self, content):
        self._content, self._place = content, 0

    def take(self, count):
        end = self._place + count
        if count < 0 or end > len(self._content):
            raise _invalid("Data too short when trying to read string")
        piece = self._content[self._place : end]
        self._place = end
        return piece

    def expect(self, *words):
        found = self.take(4)
        if found not in words:
            raise _invalid(f"Header mismatch: Expected {words[0].decode()} but found {found!r}")

    def number(self):
        return int.from_bytes(self.take(4), "little")

    @property
    def is_at_end(self):
        return self._place >= len(self._content)


def _read_wav(content):
    """The samples [samples, channels] of a file as 16-bit integers, and their rate."""
    reader = _Reader(content)
    reader.expect(b"RIFF")
    reader.number()
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    size = reader.number()
    if size not in (_FORMAT.size, 18):
        raise _invalid(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    audio_format, channels, rate, _, bytes_per_sample, bits = _FORMAT.unpack(
        reader.take(_FORMAT.size)
    )
    reader.take(size - _FORMAT.size)
    if audio_format != _PCM:
        raise _invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{audio_format}")
    if bits != _BITS:
        raise _invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if channels < 1 or bytes_per_sample != channels * _BITS // 8:
        raise _invalid(f"Bad bytes per sample in WAV header: {bytes_per_sample}")
    while not reader.is_at_end:
        kind, length = reader.take(4), reader.number()
        chunk = reader.take(length)
        if kind == b"data":
            whole = length - length % bytes_per_sample
            return np.frombuffer(chunk[:whole], "<i2").reshape(-1, channels), rate
    raise _invalid("No data chunk found in WAV")


@kernel("DecodeWav", devices=HOST, fresh=True)
def _(node):
    wanted_channels = node.attrs["desired_channels"]
    wanted_samples = node.attrs["desired_samples"]

    def run(contents):
        samples, rate = _read_wav(contents[()])
        count, channels = samples.shape
        if wanted_channels != -1:
            samples = samples[:, np.minimum(np.arange(wanted_channels), channels - 1)]
        if wanted_samples != -1:
            missing = max(wanted_samples - count, 0)
            samples = np.pad(samples[:wanted_samples], ((0, missing), (0, 0)))
        audio = samples.astype(np.float32) / np.float32(_FULL_SCALE)
        return torch.from_numpy(audio), torch.tensor(rate, dtype=torch.int32)

    return run


@kernel("EncodeWav", devices=HOST, fresh=True)
def _(node):
    def run(audio, sample_rate):
        if audio.dim() != 2:
            raise _invalid(f"audio must be 2-dimensional, but got shape {list(audio.shape)}")
        if sample_rate.dim() != 0:
            raise _invalid(f"Input sample_rate should be a scalar, got {list(sample_rate.shape)}")
        rate, channels = int(sample_rate), audio.shape[1]
        if not 0 < channels < 2**16 or rate <= 0:
            raise _invalid(f"can't encode {channels} channels at a rate of {rate}")
        scaled = audio.double() * _FULL_SCALE
        rounded = torch.sign(scaled) * torch.floor(scaled.abs() + 0.5)
        data = rounded.clamp(-_FULL_SCALE, _FULL_SCALE - 1).numpy().astype("<i2").tobytes()
        bytes_per_sample = channels * _BITS // 8
        header = _FORMAT.pack(
            _PCM, channels, rate, rate * bytes_per_sample, bytes_per_sample, _BITS
        )
        contents = np.empty((), object)
        contents[()] = b"".join(
            [
                *(b"RIFF", struct.pack("<I", 36 + len(data)), b"WAVE"),
                *(b"fmt ", struct.pack("<I", len(header)), header),
                *(b"data", struct.pack("<I", len(data)), data),
            ]
        )
        return contents

    return run


# Spectra --------------------------------------------------------------------------------------


@kernel("AudioSpectrogram", fresh=True)
def _(node):
    size, stride = node.attrs["window_size"], node.attrs["stride"]
    squared = node.attrs["magnitude_squared"]
    bins = frequencies(size)

    def run(audio):
        if audio.dim() != 2:
            raise _invalid(f"input must be 2-dimensional, got {list(audio.shape)}")
        count, channels = audio.shape
        if count < size:
            return audio.new_zeros(channels, 0, bins)
        fading = torch.hann_window(size, dtype=torch.float64, device=audio.device)
        windows = audio.t().double().unfold(1, size, stride) * fading
        spectrum = torch.fft.rfft(windows, 2 * (bins - 1))
        power = spectrum.real.square() + spectrum.imag.square()
        return (power if squared else power.sqrt()).float()

    return run


def _mel(frequency):
    return 1127.0 * np.log1p(frequency / 700.0)


def _mel_filters(bins, rate, node):
    """Overlapping triangles on the mel scale: [frequencies, bands]."""
    bands = node.attrs["filterbank_channel_count"]
    low, high = node.attrs["lower_frequency_limit"], node.attrs["upper_frequency_limit"]
    if bands < 1 or rate <= 0 or bins < 2 or low < 0 or high <= low:
        raise _invalid(
            f"Mfcc initialization failed for channel count {bins}, sample rate {rate} and "
            f"filterbank_channel_count {bands}"
        )
    borders = np.linspace(_mel(low), _mel(high), bands + 2)
    per_bin = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / per_bin), min(int(high / per_bin), bins - 1)
    filters = np.zeros((bins, bands + 2))
    used = np.arange(first, last + 1)
    if used.size:
        mel = _mel(used * per_bin)
        # Each frequency belongs to two triangles: it falls in the left one, rises in the right.
        left = np.clip(np.searchsorted(borders[1:], mel, side="left"), 0, bands)
        falling = (borders[left + 1] - mel) / (borders[left + 1] - borders[left])
        filters[used, left] = falling
        filters[used, left + 1] = 1.0 - falling
    return filters[:, 1:-1]


@kernel("Mfcc", fresh=True)
def _(node):
    bands, count = node.attrs["filterbank_channel_count"], node.attrs["dct_coefficient_count"]
    if not 0 < count <= bands:
        raise _invalid(
            f"dct_coefficient_count must be positive and at most filterbank_channel_count, got "
            f"{count} and {bands}"
        )
    angles = np.outer(np.arange(bands) + 0.5, np.arange(count)) * (math.pi / bands)
    cosines = torch.from_numpy(np.cos(angles) * math.sqrt(2.0 / bands))

    def run(spectrogram, sample_rate):
        if spectrogram.dim() != 3:
            raise _invalid(f"spectrogram must be 3-dimensional, got {list(spectrogram.shape)}")
        filters = torch.from_numpy(_mel_filters(spectrogram.shape[2], int(sample_rate), node))
        loudness = spectrogram.double().sqrt() @ filters.to(spectrogram.device)
        return (loudness.clamp(min=1e-12).log() @ cosines.to(spectrogram.device)).float()

    return run
