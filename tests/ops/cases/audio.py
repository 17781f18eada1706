"""WAV files, spectrograms and cepstral coefficients."""

import struct

import numpy as np

from tests.ops.case import Case, array, f32, string


def wav(channels: int = 2, *, kind: int = 1, bits: int = 16, extra: bytes = b"") -> bytes:
    data = struct.pack("<8h", 0, 1, -1, 32767, -32768, 1000, -1000, 5)
    header = struct.pack("<HHIIHH", kind, channels, 8000, 16000 * channels, 2 * channels, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(header)) + header + extra
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


LIST = b"LIST" + struct.pack("<I", 4) + b"abcd"
SOUND = np.sin(np.arange(60) * 0.7).astype("float32").reshape(-1, 1)
POWERS = f32(2, 3, 129) ** 2
RATE = array(16000, "int32")

CASES = [
    Case("DecodeWav", (string(wav()),)),
    Case("DecodeWav", (string(wav(1)),)),
    Case("DecodeWav", (string(wav(4)),)),
    Case("DecodeWav", (string(wav(extra=LIST)),), label="other chunk"),
    Case("DecodeWav", (string(wav()),), {"desired_channels": 1, "desired_samples": 6}),
    Case("DecodeWav", (string(wav()),), {"desired_channels": 3, "desired_samples": 2}),
    Case("DecodeWav", (string(wav(kind=3)),), label="format", fails=True),
    Case("DecodeWav", (string(wav(bits=8)),), label="bits", fails=True),
    Case("DecodeWav", (string(wav()[:20]),), label="header cut", fails=True),
    Case("DecodeWav", (string(wav()[:-3]),), label="data cut", fails=True),
    Case("DecodeWav", (string(b"not sound at all"),), label="no header", fails=True),
    Case("EncodeWav", (array([[0, 1], [-1, 0.5], [2, -2], [0.3, 1e-5]], "float32"), RATE)),
    Case("EncodeWav", (f32(20, 1), RATE)),
    Case("EncodeWav", (f32(0, 1), RATE)),
    Case("EncodeWav", (f32(4), RATE), label="vector", fails=True),
    Case("AudioSpectrogram", (SOUND,), {"window_size": 16, "stride": 5}, grad=False),
    Case("AudioSpectrogram", (f32(50, 2),), {"window_size": 12, "stride": 14}, grad=False),
    Case(
        "AudioSpectrogram",
        (SOUND,),
        {"window_size": 12, "stride": 3, "magnitude_squared": True},
        grad=False,
    ),
    Case("AudioSpectrogram", (SOUND[:7],), {"window_size": 8, "stride": 3}, grad=False),
    Case("AudioSpectrogram", (SOUND,), {"window_size": 1, "stride": 3}, fails=True),
    Case("AudioSpectrogram", (SOUND,), {"window_size": 4, "stride": 0}, fails=True),
    Case("AudioSpectrogram", (SOUND[0],), {"window_size": 4, "stride": 1}, fails=True),
    Case("Mfcc", (POWERS, RATE), grad=False),
    Case(
        "Mfcc",
        (POWERS, array(22050, "int32")),
        {
            "upper_frequency_limit": 7000.0,
            "lower_frequency_limit": 100.0,
            "filterbank_channel_count": 20,
            "dct_coefficient_count": 20,
        },
        grad=False,
    ),
    Case("Mfcc", (np.zeros((1, 2, 129), "float32"), RATE), grad=False, label="silence"),
    Case("Mfcc", (POWERS, RATE), {"upper_frequency_limit": 10.0}, label="limits", fails=True),
    Case("Mfcc", (POWERS[0], RATE), label="matrix", fails=True),
]
