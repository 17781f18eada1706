r"""Regular expressions in RE2's syntax, translated for Python's `re`.

RE2 has no back references and no look-around. Its classes \d, \w, \s and its \b are of ASCII, its
`$` is the very end of the text, and flags that are set within a group hold to the group's end. Text
is UTF-8: what is not valid in it is decoded to lone surrogates, which no class matches.
"""

import functools
import re

from penstock.kernels.unicode_properties import ranges_of


class BadPattern(ValueError):
    """A pattern that RE2 refuses, with RE2's words."""


_INVALID = r"\udc80-\udcff"  # how bytes that are no UTF-8 are decoded


def _pairs(text):
    """Ranges written as the characters at their ends: "09az" is 0 to 9 and a to z."""
    return tuple((ord(a), ord(b)) for a, b in zip(text[::2], text[1::2], strict=True))


_PERL = {"d": _pairs("09"), "w": _pairs("09AZ__az"), "s": _pairs("\t\n\f\r  ")}
_POSIX = {
    "alnum": _pairs("09AZaz"),
    "alpha": _pairs("AZaz"),
    "ascii": _pairs("\x00\x7f"),
    "blank": _pairs("\t\t  "),
    "cntrl": _pairs("\x00\x1f\x7f\x7f"),
    "digit": _pairs("09"),
    "graph": _pairs("!~"),
    "lower": _pairs("az"),
    "print": _pairs(" ~"),
    "punct": _pairs("!/:@[`{~"),
    "space": _pairs("\t\r  "),
    "upper": _pairs("AZ"),
    "word": _pairs("09AZ__az"),
    "xdigit": _pairs("09AFaf"),
}
_LETTER_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASSERTIONS = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
_MOST_REPEATS = 1000


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern):
    """A pattern (bytes) as Python's; matches of text that `decoded` makes of bytes."""
    try:
        return re.compile(_Translator(pattern.decode("utf-8", "surrogateescape")).translate())
    except re.error as error:
        raise BadPattern(str(error)) from error


def decoded(string):
    return string.decode("utf-8", "surrogateescape")


def encoded(text):
    return text.encode("utf-8", "surrogateescape")


class _Translator:
    """Walks over a pattern once and writes its translation.

    `_flags` holds the flags in force; `_groups` those to restore at the end of each open group.
    `_repeatable` is the last operator's text if it was a repetition, "" after an atom, None
    where nothing can be repeated.
    """

    def __init__(self, pattern):
        self._pattern = pattern
        self._at = 0
        self._out = []
        self._flags = frozenset()
        self._groups = []
        self._repeatable = None

    def translate(self):
        while self._at < len(self._pattern):
            self._step(self._pattern[self._at])
        if self._groups:
            raise BadPattern(f"missing ): {self._pattern}")
        return "".join(self._out)

    def _step(self, char):
        if char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self._emit("|", None)
        elif char == "^":
            self._emit("(?m:^)" if "m" in self._flags else r"(?:\A)")
        elif char == "$":
            self._emit("(?m:$)" if "m" in self._flags else r"(?:\Z)")
        elif char == ".":
            self._emit(f"[^{'' if 's' in self._flags else chr(92) + 'n'}{_INVALID}]")
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escape()
        elif char in "*+?":
            self._repeat(char, char)
        elif char == "{":
            self._counted()
        else:
            self._literal(char)

    def _emit(self, text, repeatable="", size=1):
        self._out.append(text)
        self._repeatable = repeatable
        self._at += size

    def _literal(self, char, size=1):
        self._emit(self._in_case(re.escape(char)), size=size)

    def _in_case(self, text):
        return f"(?i:{text})" if "i" in self._flags else text

    # Groups and flags

    def _open(self):
        rest = self._pattern[self._at :]
        if not rest.startswith("(?"):
            self._groups.append(self._flags)
            return self._emit("(", None)
        named = re.match(r"\(\?P<(\w+)>", rest)
        if named:  # the rewrite knows groups by number alone
            self._groups.append(self._flags)
            return self._emit("(", None, len(named[0]))
        flags = _FLAGS.match(rest)
        if flags is None:
            raise BadPattern(f"invalid perl operator: {_shown_operator(rest)}")
        before = self._flags
        self._flags = before.union(flags[1]).difference((flags[2] or "-")[1:])
        if flags[3] == ":":
            self._groups.append(before)
            return self._emit("(?:", None, len(flags[0]))
        return self._emit("", None, len(flags[0]))

    def _close(self):
        if not self._groups:
            raise BadPattern(f"unexpected ): {self._pattern}")
        self._flags = self._groups.pop()
        self._emit(")")

    # Repetitions

    def _counted(self):
        match = _REPEAT.match(self._pattern, self._at)
        if match is None:
            return self._literal("{")
        low = int(match[1])
        high = low if match[2] is None else int(match[3]) if match[3] else None
        if max(low, high or 0) > _MOST_REPEATS or (high is not None and high < low):
            raise BadPattern(f"invalid repetition size: {match[0]}")
        return self._repeat(match[0], match[0])

    def _repeat(self, text, operator):
        if self._repeatable is None:
            raise BadPattern(f"no argument for repetition operator: {text}")
        if self._repeatable:
            raise BadPattern(f"bad repetition operator: {self._repeatable}{text}")
        self._at += len(text)
        lazy = self._pattern.startswith("?", self._at)
        self._at += lazy
        self._emit(operator + ("?" if lazy != ("U" in self._flags) else ""), text, 0)

    # Escapes and classes

    def _escape(self):
        rest = self._pattern[self._at : self._at + 2]
        if len(rest) < 2:
            raise BadPattern("trailing \\")
        char = rest[1]
        if char in _ASSERTIONS:
            return self._emit(f"(?:{_ASSERTIONS[char]})", size=2)
        if char == "C":
            return self._emit(r"[\s\S]", size=2)
        if char == "Q":
            return self._quoted()
        inside = self._class_escape()
        if inside is not None:
            negated, ranges = inside
            return self._emit(self._in_case(_set(negated, ranges)), size=0)
        return self._literal(self._escaped_char(), size=0)

    def _quoted(self):
        r"""`\Q...\E`: everything between stands for itself."""
        end = self._pattern.find("\\E", self._at)
        text = self._pattern[self._at + 2 : end if end >= 0 else None]
        for char in text:
            self._literal(char, 0)
        self._at += len(text) + (2 if end < 0 else 4)

    def _class_escape(self):
        r"""(negated, ranges) of \d, \pN and their like, read off; None if it is none of them."""
        char = self._pattern[self._at + 1 : self._at + 2]
        if char and char.lower() in _PERL:
            self._at += 2
            return char.isupper(), _PERL[char.lower()]
        if char not in ("p", "P"):
            return None
        match = re.compile(r"\\[pP](?:\{(\^?)(\w+)\}|(\w))").match(self._pattern, self._at)
        if match is None:
            raise BadPattern(f"invalid character class range: {self._pattern[self._at :]}")
        try:
            ranges = ranges_of(match[2] or match[3])
        except KeyError:
            raise BadPattern(f"invalid character class range: {match[0]}") from None
        self._at += len(match[0])
        return (char == "P") != bool(match[1]), ranges

    def _escaped_char(self):
        """The character that an escape stands for, read off."""
        rest = self._pattern[self._at :]
        char = rest[1:2]
        hexadecimal = re.match(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))", rest)
        octal = re.match(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})", rest)
        if hexadecimal:
            self._at += len(hexadecimal[0])
            return self._code_point(int(hexadecimal[1] or hexadecimal[2], 16), hexadecimal[0])
        if octal:
            self._at += len(octal[0])
            return self._code_point(int(octal[1], 8), octal[0])
        if char in _LETTER_ESCAPES:
            self._at += 2
            return _LETTER_ESCAPES[char]
        if not char.isascii() or char.isalnum() or not char:
            raise BadPattern(f"invalid escape sequence: {rest[:2]}")
        self._at += 2
        return char

    @staticmethod
    def _code_point(number, text):
        if number > 0x10FFFF:
            raise BadPattern(f"invalid escape sequence: {text}")
        return chr(number)

    def _class(self):
        start = self._at
        self._at += 1
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        members = []
        first = True
        while first or not self._pattern.startswith("]", self._at):
            if self._at >= len(self._pattern):
                raise BadPattern(f"missing ]: {self._pattern[start:]}")
            members += self._member(start)
            first = False
        self._emit(self._in_case(_set(negated, members)))

    def _member(self, start):
        """The ranges of one member of a class: of another class, of a character, or one range."""
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self._pattern, self._at)
        if posix:
            if posix[2] not in _POSIX:
                raise BadPattern(f"invalid character class range: {posix[0]}")
            self._at += len(posix[0])
            return _complement(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]]
        if self._pattern.startswith("\\", self._at):
            inside = self._class_escape()
            if inside is not None:
                return _complement(inside[1]) if inside[0] else inside[1]
        at = self._at
        first = self._member_char(start)
        if not self._pattern.startswith("-", self._at) or self._pattern.startswith("-]", self._at):
            return ((ord(first), ord(first)),)
        self._at += 1
        last = self._member_char(start)
        if last < first:
            raise BadPattern(f"invalid character class range: {self._pattern[at : self._at]}")
        return ((ord(first), ord(last)),)

    def _member_char(self, start):
        if self._at >= len(self._pattern):
            raise BadPattern(f"missing ]: {self._pattern[start:]}")
        char = self._pattern[self._at]
        if char == "\\":
            return self._escaped_char()
        self._at += 1
        return char


def _shown_operator(rest):
    """As much of a group's opening as RE2's message shows."""
    if rest.startswith("(?P"):
        return "(?P"
    flags = re.match(r"\(\?[imsU-]*", rest)
    return rest[: max(3, len(flags[0]) + 1)]


def _set(negated, ranges):
    valid = ranges if negated else [part for each in ranges for part in _without_invalid(*each)]
    members = "".join(f"{_in_class(first)}-{_in_class(last)}" for first, last in valid)
    if negated:
        return f"[^{members}{_INVALID}]"
    return f"[{members}]" if members else "(?!)"


def _without_invalid(first, last):
    """The parts of a range beside the code points that stand for invalid bytes."""
    parts = ((first, min(last, 0xDC7F)), (max(first, 0xDD00), last))
    return [(start, end) for start, end in parts if start <= end]


def _in_class(number):
    char = chr(number)
    return "\\" + char if char in r"\]^-[&~|" else char


def _complement(ranges):
    """All other code points: a negated class within another."""
    gaps, start = [], 0
    for first, last in sorted(ranges):
        if start < first:
            gaps.append((start, first - 1))
        start = max(start, last + 1)
    return [*gaps, (start, 0x10FFFF)] if start <= 0x10FFFF else gaps
