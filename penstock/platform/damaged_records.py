"""Reading on past damaged records."""

from __future__ import annotations

from penstock import errors
from penstock.platform import logging
from penstock.platform.record_files import RecordReader

_HEADER = 12  # bytes: a length and its checksum
_FOOTER = 4  # bytes: the checksum of the data
_BLOCK = 1 << 20  # bytes that are searched at once


class PatchyRecordReader(RecordReader):
    """Reads those records of a file that are whole, and warns about what it leaves out.

    1. Behind a record with the right length and wrong data, the next one follows.
    2. Behind a wrong length, the next one is where the bytes of a header with the right checksum
       are. Records within a record are so found, too.
    3. A record that is cut off ends the file, and so does damage in the compression.
    """

    def read(self) -> bytes | None:
        """The next record that is whole; None at the end of the file."""
        while True:
            start = self.offset
            try:
                return super().read()
            except errors.DataLossError as damage:
                goes_on = self._leave_out()
                size = self.offset - start
                logging.warning("%s; %d bytes from %d on are left out", damage.message, size, start)
                if not goes_on:
                    return None

    def _leave_out(self) -> bool:
        """Goes past a damaged record; whether anything may follow."""
        try:
            self._fetch(_HEADER)
            header = self._buffer[self._place : self._place + _HEADER]
            length = self._lengths[header] if len(header) == _HEADER else -1
            if length >= 0:
                return self._pass_over(_HEADER + length + _FOOTER)
            return self._find_header()
        except errors.DataLossError:
            return False

    def _pass_over(self, size: int) -> bool:
        """Goes on by so many bytes; whether there are as many."""
        while size:
            self._fetch(min(size, _BLOCK))
            step = min(size, len(self._buffer) - self._place)
            if not step:
                return False
            self._advance(step)
            size -= step
        return True

    def _find_header(self) -> bool:
        """Goes to the next header, if there is one."""
        while True:
            self._fetch(_BLOCK)
            available = len(self._buffer) - self._place
            if available <= _HEADER:
                self._advance(available)
                return False
            for step in range(1, available - _HEADER + 1):
                start = self._place + step
                if self._lengths[self._buffer[start : start + _HEADER]] >= 0:
                    self._advance(step)
                    return True
            self._advance(available - _HEADER)

    def _advance(self, size: int) -> None:
        self._place += size
        self.offset += size
