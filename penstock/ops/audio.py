"""Sound: WAV files, spectrograms, and the coefficients that speech recognition works on."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["audio_spectrogram", "decode_wav", "encode_wav", "mfcc"]

DecodeWav = op(
    "DecodeWav(contents: string) -> audio: float32, sample_rate: int32",
    desired_channels=-1,
    desired_samples=-1,
)
EncodeWav = op("EncodeWav(audio: float32, sample_rate: int32) -> contents: string")
AudioSpectrogram = op(
    "AudioSpectrogram(input: float32) -> spectrogram: float32",
    window_size=attr("int"),
    stride=attr("int"),
    magnitude_squared=False,
)
Mfcc = op(
    "Mfcc(spectrogram: float32, sample_rate: int32) -> output: float32",
    upper_frequency_limit=4000.0,
    lower_frequency_limit=20.0,
    filterbank_channel_count=40,
    dct_coefficient_count=13,
)
not_differentiable(DecodeWav, EncodeWav, AudioSpectrogram, Mfcc)


@DecodeWav.shape
def _(op: Any, contents: Shape) -> list[Shape]:
    with_rank(contents, 0)
    sizes = []
    for key in ("desired_samples", "desired_channels"):
        wanted = op.attrs[key]
        if wanted < -1 or (key == "desired_channels" and wanted == 0):
            raise ValueError(f"{key} must be non-negative or -1, got {wanted}")
        sizes.append(None if wanted == -1 else wanted)
    return [tuple(sizes), ()]


@EncodeWav.shape
def _(op: Any, audio: Shape, sample_rate: Shape) -> Shape:
    with_rank(audio, 2)
    with_rank(sample_rate, 0)
    return ()


def frequencies(window_size: int) -> int:
    """How many frequencies the spectrum of a window has: windows are padded to a power of two."""
    padded: int = 1 << (window_size - 1).bit_length()
    return padded // 2 + 1


@AudioSpectrogram.shape
def _(op: Any, input: Shape) -> Shape:
    samples, channels = with_rank(input, 2)
    window, stride = op.attrs["window_size"], op.attrs["stride"]
    if window <= 1:
        raise ValueError(f"window size must be > 1, got {window}")
    if stride <= 0:
        raise ValueError(f"stride must be strictly positive, got {stride}")
    frames = None if samples is None else max(0, 1 + (samples - window) // stride)
    return (channels, frames, frequencies(window))


@Mfcc.shape
def _(op: Any, spectrogram: Shape, sample_rate: Shape) -> Shape:
    channels, frames, _ = with_rank(spectrogram, 3)
    with_rank(sample_rate, 0)
    return (channels, frames, op.attrs["dct_coefficient_count"])


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> Any:
    """The samples [samples, channels] of a 16-bit WAV file as floats from -1 to 1, and their rate.

    Args:
      contents: The bytes of the file.
      desired_channels: How many channels to give; the last one is repeated where they are fewer.
      desired_samples: How many samples to give; zeros are added where they are fewer.
    """
    return DecodeWav(
        contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Samples [samples, channels] from -1 to 1 as the bytes of a 16-bit WAV file."""
    return EncodeWav(audio, sample_rate, name=name)


def audio_spectrogram(
    input: Any,
    window_size: int,
    stride: int,
    magnitude_squared: bool = False,
    name: str | None = None,
) -> Tensor:
    """The spectra of windows of sound: [channels, windows, frequencies].

    Args:
      input: Samples [samples, channels].
      window_size: How many samples a window has.
      stride: How far windows are apart.
      magnitude_squared: Whether to give the squares of magnitudes.
    """
    return AudioSpectrogram(
        input,
        window_size=window_size,
        stride=stride,
        magnitude_squared=magnitude_squared,
        name=name,
    )


def mfcc(
    spectrogram: Any,
    sample_rate: Any,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> Tensor:
    """The mel-frequency cepstral coefficients of spectra (squared) of `audio_spectrogram`.

    Args:
      filterbank_channel_count: How many bands of the mel scale are told apart.
      dct_coefficient_count: How many coefficients there are for each window.
    """
    return Mfcc(
        spectrogram,
        sample_rate,
        upper_frequency_limit=float(upper_frequency_limit),
        lower_frequency_limit=float(lower_frequency_limit),
        filterbank_channel_count=filterbank_channel_count,
        dct_coefficient_count=dct_coefficient_count,
        name=name,
    )
