"""Regular expressions: RE2's syntax, its matches, its errors."""

from __future__ import annotations

from tests.ops.case import Case, string, strings

TEXT = strings("hello world", "abxd", "a\nb\n", "A1b2", "h\u20acllo", "", b"h\xff\xe2llo", "x.y[z]")

# pattern, rewrite
REPLACED = {
    "literal": ("l", "L"),
    "groups": (r"(l)(.)", r"<\2\1\0>"),
    "empty matches": ("x*", "-"),
    "empty first": ("|a", "-"),
    "lazy": ("l+?", "-"),
    "ungreedy": ("(?U)l+", "-"),
    "dot": (".", "-"),
    "dot and lines": ("(?s).", "-"),
    "end": ("b$", "-"),
    "end of lines": ("(?m)[ab]$", "-"),
    "start of lines": ("(?m)^.", "-"),
    "case": ("(?i)[a-h]|X", "-"),
    "case from here": ("A(?i)1B", "-"),
    "case in a group": ("(?i:A)1b", "-"),
    "digits": (r"\d|\s", "-"),
    "not words": (r"\W", "-"),
    "posix": ("[[:alpha:][:^ascii:]]", "-"),
    "property": (r"\pN|\p{Ll}", "-"),
    "not property": (r"[^\PL]", "-"),
    "script": (r"\p{Latin}", "-"),
    "negated inside": (r"[\D]", "-"),
    "quoted": (r"\Q.y[\E", "-"),
    "boundary": (r"\b", "|"),
    "very end": (r"\z", "$"),
    "code point": (r"\x{20ac}|\x41", "-"),
    "repeats": ("l{2}|b{1,2}|{x", "-"),
    "bracket": ("[]x.]", "-"),
    "class escapes": (r"[\n\t\[\]]", "-"),
    "named": (r"(?P<first>h)(?P<second>e)", r"\2\1"),
    "missing group": ("(z)?(b)?", r"[\2]"),
    "unknown group": ("l", r"\1"),
    "bad rewrite": ("l", r"<\x>"),
    "backslash": ("l", r"\\"),
}
MATCHED = ("a.*", "hello.*", "(?i)ABXD|a1B2", "", r"[^\n]*", "(?s).*b.", "x\\.y\\[z]", "A1b2$")
BAD = {
    "look-ahead": "(?=l)",
    "back reference": r"(l)\1",
    "possessive": "l++",
    "repeated": "a**",
    "nothing to repeat": "*",
    "nothing behind a bar": "a|*",
    "open group": "(",
    "closed group": ")",
    "open class": "[a",
    "range": "[b-a]",
    "count": "a{1001}",
    "order": "a{2,1}",
    "escape": r"\y",
    "end of text": r"\Z",
    "trailing": "\\",
    "property": r"\p{Foo}",
    "comment": "(?#c)a",
    "flag": "(?z)a",
    "boundary in a class": r"[\b]",
}

CASES = [
    Case("StaticRegexReplace", (TEXT,), {"pattern": p, "rewrite": r}, label=label)
    for label, (p, r) in REPLACED.items()
]
CASES += [
    Case("RegexReplace", (TEXT, string("(l)"), string(r"\1\1"))),
    Case(
        "RegexReplace",
        (strings(["aa"], ["ba"]), string("a"), string("")),
        {"replace_global": False},
        label="first",
    ),
    Case(
        "StaticRegexReplace",
        (TEXT,),
        {"pattern": "x*", "rewrite": "-", "replace_global": False},
        label="first empty",
    ),
    Case("RegexReplace", (TEXT, strings("a", "b"), string("")), label="patterns", fails=True),
    Case("RegexReplace", (TEXT, string("("), string("")), label="pattern", fails=True),
    Case("RegexFullMatch", (TEXT, string("[a-z ]+"))),
    Case("RegexFullMatch", (TEXT, string("[")), label="pattern", fails=True),
]
CASES += [
    Case("StaticRegexFullMatch", (TEXT,), {"pattern": pattern}, label=f"{i}")
    for i, pattern in enumerate(MATCHED)
]
CASES += [
    Case("StaticRegexFullMatch", (TEXT,), {"pattern": pattern}, label=f"bad {label}", fails=True)
    for label, pattern in BAD.items()
]
