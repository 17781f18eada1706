"""What a conversion is asked for."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, NamedTuple


class Feature(enum.Enum):
    """Parts of the conversion that a program may ask for."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Every feature that is not excluded, by its own name."""
        excluded = (exclude,) if isinstance(exclude, Feature) else tuple(exclude)
        return tuple(each for each in cls if each not in excluded and each is not cls.ALL)


class ConversionOptions:
    """What to convert, and how.

    Args:
      recursive: whether functions that a converted function calls are converted, too.
      user_requested: whether a program asked for this function by name; then it is converted
        wherever it comes from.
      internal_convert_user_code: whether functions are converted at all, besides built-in ones.
      optional_features: a `Feature` or several.
    """

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Feature | Iterable[Feature] | None = Feature.ALL,
    ):
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        if isinstance(optional_features, Feature):
            optional_features = (optional_features,)
        self.optional_features = frozenset(optional_features or ())

    def as_tuple(self) -> tuple[Any, ...]:
        """All of them."""
        return (
            self.recursive,
            self.user_requested,
            self.internal_convert_user_code,
            self.optional_features,
        )

    def __hash__(self) -> int:
        return hash(self.as_tuple())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __repr__(self) -> str:
        features = ", ".join(sorted(each.name for each in self.optional_features))
        return (
            f"ConversionOptions(recursive={self.recursive}, user_requested={self.user_requested}, "
            f"internal_convert_user_code={self.internal_convert_user_code}, features=[{features}])"
        )

    def uses(self, feature: Feature) -> bool:
        """Whether a feature was asked for."""
        return Feature.ALL in self.optional_features or feature in self.optional_features

    def call_options(self) -> ConversionOptions:
        """The options of the functions that a converted function calls."""
        return ConversionOptions(
            recursive=self.recursive,
            user_requested=False,
            internal_convert_user_code=self.recursive,
            optional_features=self.optional_features,
        )


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)


class ProgramContext(NamedTuple):
    """What all conversions of a program share."""

    options: ConversionOptions
    autograph_module: Any = None
