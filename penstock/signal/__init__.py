"""`tf.signal`: Fourier and cosine transforms, windows, frames and spectrograms."""

from penstock.ops.fourier import (
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from penstock.signal.cosine_transforms import dct, idct
from penstock.signal.divisors import gcd as gcd  # a name of TensorFlow's internals
from penstock.signal.frames import frame, overlap_and_add
from penstock.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from penstock.signal.shifts import fftshift, ifftshift
from penstock.signal.short_time import inverse_stft, inverse_stft_window_fn, stft
from penstock.signal.windows import (
    hamming_window,
    hann_window,
    kaiser_bessel_derived_window,
    kaiser_window,
    vorbis_window,
)

__all__ = [
    "dct",
    "fft",
    "fft2d",
    "fft3d",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftshift",
    "inverse_stft",
    "inverse_stft_window_fn",
    "irfft",
    "irfft2d",
    "irfft3d",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "rfft",
    "rfft2d",
    "rfft3d",
    "stft",
    "vorbis_window",
]
