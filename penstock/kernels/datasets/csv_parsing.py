"""The records of a CSV file: lines of fields, in which quoted fields may hold line ends."""

from __future__ import annotations

from typing import IO

_CHUNK = 1 << 18
_QUOTE = b'"'
_LINE_ENDS = (b"\n", b"\r")

Record = tuple[list[bytes], "str | None"]


class CsvFile:
    """Reads a file record by record.

    A record is its fields and, where it is wrong, what is wrong with it; the record after a wrong
    one begins behind the next end of a line that is not within quotes.
    """

    def __init__(self, file: IO[bytes], delimiter: bytes, quotes: bool):
        self._file, self._delimiter, self._quotes = file, delimiter, quotes
        self._buffer = b""
        self._place = 0

    def close(self) -> None:
        self._file.close()

    def read(self) -> Record | None:
        """The next record; None at the end of the file."""
        end = self._line_end()
        if end == self._place and not self._at(end):
            return None
        line = self._buffer[self._place : end]
        if self._quotes and _QUOTE in line:
            return self._read_quoted()
        self._place = end
        self._pass_line_end()
        return line.split(self._delimiter), None

    def _read_quoted(self) -> Record:
        """A record with quotes in it."""
        fields: list[bytes] = []
        problem = None
        while True:
            quoted = self._at(self._place) == _QUOTE
            field, wrong = self._quoted_field() if quoted else self._plain_field()
            fields.append(field)
            problem = problem or wrong
            if self._at(self._place) != self._delimiter:
                self._pass_line_end()
                return fields, problem
            self._place += 1

    def _plain_field(self) -> tuple[bytes, str | None]:
        end = self._line_end()
        found = self._buffer.find(self._delimiter, self._place, end)
        end = found if found >= 0 else end
        field = self._buffer[self._place : end]
        self._place = end
        wrong = "Unquoted fields cannot have quotes inside" if _QUOTE in field else None
        return field, wrong

    def _quoted_field(self) -> tuple[bytes, str | None]:
        self._place += 1
        parts: list[bytes] = []
        wrong = None
        while True:
            end = self._find(_QUOTE, self._place)
            parts.append(self._buffer[self._place : end])
            if not self._at(end):
                self._place = end
                return b"".join(parts), "Reached end of file without closing quoted field in record"
            behind = self._at(end + 1)
            self._place = end + 1
            if behind in (b"", self._delimiter, *_LINE_ENDS):
                return b"".join(parts), wrong
            parts.append(_QUOTE)
            if behind == _QUOTE:
                self._place += 1
            else:
                wrong = wrong or "Quote inside a string has to be escaped by another quote"

    # The buffer -------------------------------------------------------------------------------

    def _at(self, place: int) -> bytes:
        """The byte at a place of the buffer; nothing behind the end of the file."""
        while place >= len(self._buffer) and self._fetch():
            pass
        return self._buffer[place : place + 1]

    def _fetch(self) -> bool:
        more = self._file.read(_CHUNK)
        self._buffer += more
        return bool(more)

    def _find(self, wanted: bytes, start: int) -> int:
        """Where the next such byte is; the end of the file if there is none."""
        while (found := self._buffer.find(wanted, start)) < 0:
            start = max(start, len(self._buffer))
            if not self._fetch():
                return len(self._buffer)
        return found

    def _line_end(self) -> int:
        end = self._find(_LINE_ENDS[0], self._place)
        earlier = self._buffer.find(_LINE_ENDS[1], self._place, end)
        return earlier if earlier >= 0 else end

    def _pass_line_end(self) -> None:
        """Goes behind LF, CR or CR LF, and forgets what was read."""
        if self._at(self._place) == b"\r":
            self._place += 1
            if self._at(self._place) == b"\n":
                self._place += 1
        elif self._at(self._place):
            self._place += 1
        if self._place > _CHUNK:
            self._buffer, self._place = self._buffer[self._place :], 0
