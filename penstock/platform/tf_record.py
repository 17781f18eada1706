"""TFRecord files: `TFRecordWriter`, `tf_record_iterator` and their options."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import IO, Any

from penstock import errors
from penstock.platform.compat import as_bytes
from penstock.platform.damaged_records import PatchyRecordReader
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import as_path, open_file
from penstock.platform.record_files import WINDOW_BITS, Deflater, RecordReader, frame

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "tf_record_iterator",
    "tf_record_random_reader",
]


_ZLIB_DEFAULTS = {
    "flush_mode": zlib.Z_NO_FLUSH,
    "input_buffer_size": 256 << 10,
    "output_buffer_size": 256 << 10,
    "window_bits": zlib.MAX_WBITS,
    "compression_level": zlib.Z_DEFAULT_COMPRESSION,
    "compression_method": zlib.DEFLATED,
    "mem_level": 9,
    "compression_strategy": zlib.Z_DEFAULT_STRATEGY,
}


class TFRecordCompressionType:
    """How a TFRecord file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a TFRecord file is compressed, and how zlib does it.

    Args:
      compression_type: "GZIP", "ZLIB", "" or one of `TFRecordCompressionType`.
      flush_mode, window_bits, compression_level, compression_method, mem_level,
        compression_strategy: zlib's settings; None is TensorFlow's default.
      input_buffer_size: How many bytes are collected before zlib gets them.
      output_buffer_size: Without effect: the file has a buffer of its own.
    """

    compression_type_map = {  # noqa: RUF012  TensorFlow's public attribute
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ):
        self.get_compression_type_string(compression_type)  # refuses what is none
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """ "ZLIB", "GZIP" or "", from options, a compression type or such a string."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return str(options)
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def _as_record_writer_options(self) -> SimpleNamespace:
        """All settings, with the defaults of those that are None, as `zlib_options`."""
        compression = self.get_compression_type_string(self.compression_type)
        defaults = {**_ZLIB_DEFAULTS, "window_bits": WINDOW_BITS.get(compression, 15)}
        given = {key: getattr(self, key) for key in defaults}
        chosen = {key: value for key, value in given.items() if value is not None}
        return SimpleNamespace(zlib_options=SimpleNamespace(**{**defaults, **chosen}))

    def _deflater(self, file: IO[bytes], compression: str) -> Deflater:
        given = {
            "window_bits": self.window_bits,
            "level": self.compression_level,
            "method": self.compression_method,
            "mem_level": self.mem_level,
            "strategy": self.compression_strategy,
            "flush_mode": self.flush_mode,
            "input_buffer_size": self.input_buffer_size,
        }
        chosen = {key: value for key, value in given.items() if value is not None}
        try:
            return Deflater(file, **{"window_bits": WINDOW_BITS[compression], **chosen})
        except (ValueError, zlib.error) as error:
            file.close()
            raise errors.InvalidArgumentError(
                None, None, f"zlib does not take these TFRecordOptions: {error} ({chosen})"
            ) from None


class TFRecordWriter:
    """Writes records to a TFRecord file.

    >>> with tf.python_io.TFRecordWriter("train.tfrecords") as writer:
    ...     writer.write(example.SerializeToString())
    """

    def __init__(self, path: Any, options: Any = None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        compression = TFRecordOptions.get_compression_type_string(options)
        self._path = as_path(path)
        file = open_file(path, "wb")
        self._file: Any = options._deflater(file, compression) if compression else file

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self.close()

    def write(self, record: Any) -> None:
        """Writes one record, given as bytes."""
        file = self._open_file()
        with file_errors(self._path):
            file.writelines(frame(as_bytes(record)))

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        file = self._open_file()
        with file_errors(self._path):
            file.flush()

    def close(self) -> None:
        """Completes the file; closing twice is harmless."""
        file, self._file = self._file, None
        if file is not None:
            with file_errors(self._path):
                file.close()

    def _open_file(self) -> Any:
        if self._file is None:
            raise errors.FailedPreconditionError(
                None, None, f"Writer is closed. (file: {self._path})"
            )
        return self._file

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()


class tf_record_iterator(Iterator[bytes]):
    """Iterates over the records of a TFRecord file.

    After StopIteration, or a DataLossError about a record that is not all there yet, the next call
    goes on where the file has grown.

    Args:
      path: the file.
      options: `TFRecordOptions`, for compressed files.
      skip_damaged: whether damaged records are left out, with a warning that names the file and
        the offset, instead of raising a DataLossError.
    """

    def __init__(self, path: Any, options: Any = None, *, skip_damaged: bool = False):
        self._path = path
        self._options = options
        self._kind = PatchyRecordReader if skip_damaged else RecordReader
        self._reader: RecordReader | None = None

    def __next__(self) -> bytes:
        if self._reader is None:
            compression = TFRecordOptions.get_compression_type_string(self._options)
            self._reader = self._kind(self._path, compression)
        record = self._reader.read()
        if record is None:
            raise StopIteration
        return record

    def close(self) -> None:
        """Gives the file back."""
        if self._reader is not None:
            self._reader.close()

    def __del__(self) -> None:
        if getattr(self, "_reader", None) is not None:
            self.close()


class tf_record_random_reader:
    """Reads records of an uncompressed TFRecord file by their offsets."""

    def __init__(self, path: Any):
        self._path = path
        self._reader: RecordReader | None = RecordReader(path)

    def read(self, offset: int) -> tuple[bytes, int]:
        """The record that starts at an offset, and the offset of the next one."""
        if self._reader is None:
            raise errors.FailedPreconditionError(
                None, None, f"Reader is closed. (file: {as_path(self._path)})"
            )
        self._reader.seek(offset)
        record = self._reader.read()
        if record is None:
            raise IndexError(f"Out of range at reading offset {offset}")
        return record, self._reader.offset

    def close(self) -> None:
        """Gives the file back."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
