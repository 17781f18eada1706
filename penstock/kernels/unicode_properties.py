"""Properties of code points: their script, and the classes of a general category or script."""

import functools
import pathlib
import unicodedata

import numpy as np

_SCRIPTS = pathlib.Path(__file__).with_name("unicode_scripts.txt")
_CODE_POINTS = 0x110000

# The scripts that patterns name (\p{Greek}), by ICU's number.
_SCRIPT_NAMES = (
    "Common Inherited Arabic Armenian Bengali Bopomofo Cherokee Coptic Cyrillic Deseret Devanagari "
    "Ethiopic Georgian Gothic Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana "
    "Khmer Lao Latin Malayalam Mongolian Myanmar Ogham Old_Italic Oriya Runic Sinhala Syriac Tamil "
    "Telugu Thaana Thai Tibetan Canadian_Aboriginal Yi Tagalog Hanunoo Buhid Tagbanwa"
).split()
_SCRIPT_NUMBER = {name: number for number, name in enumerate(_SCRIPT_NAMES)}
_CATEGORIES = frozenset(
    "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So "
    "Z Zl Zp Zs".split()
)


@functools.cache
def _scripts():
    """The number of the script of each code point, and at the end -1."""
    lines = _SCRIPTS.read_text(encoding="ascii").splitlines()[1:]
    starts, numbers = zip(*(line.split() for line in lines), strict=True)
    lengths = np.diff([int(start, 16) for start in starts], append=_CODE_POINTS)
    return np.append(np.repeat(np.array(numbers, dtype=np.int32), lengths), np.int32(-1))


def scripts_of(code_points):
    """ICU's number of the script of each code point, -1 for what is no code point."""
    # Negative numbers are large ones without a sign.
    unsigned = np.asarray(code_points).astype(np.int64, copy=False).view(np.uint64)
    return _scripts()[np.minimum(unsigned, _CODE_POINTS)]


@functools.cache
def ranges_of(name):
    """The ranges (first, last) of a general category or script; KeyError for an unknown name."""
    if name == "Any":
        return ((0, _CODE_POINTS - 1),)
    if name in _CATEGORIES:
        holds = np.char.startswith(_categories(), name)
    else:
        holds = scripts_of(np.arange(_CODE_POINTS)) == _SCRIPT_NUMBER[name]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return tuple((int(first), int(end) - 1) for first, end in edges.reshape(-1, 2))


@functools.cache
def _categories():
    """The general category of every code point."""
    return np.array([unicodedata.category(chr(i)) for i in range(_CODE_POINTS)])
