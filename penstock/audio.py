"""`tf.audio`: sound in WAV files."""

from penstock.ops.audio import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
