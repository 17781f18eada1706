"""`tf.strings`: joining, splitting, searching, hashing and converting strings."""

from penstock.ops.regex import regex_full_match, regex_replace
from penstock.ops.string_hashing import string_to_hash_bucket as to_hash_bucket
from penstock.ops.string_hashing import string_to_hash_bucket_fast as to_hash_bucket_fast
from penstock.ops.string_hashing import string_to_hash_bucket_strong as to_hash_bucket_strong
from penstock.ops.string_joining import reduce_join, unsorted_segment_join
from penstock.ops.string_joining import string_join as join
from penstock.ops.string_numbers import as_string
from penstock.ops.string_numbers import string_format as format
from penstock.ops.string_numbers import string_to_number as to_number
from penstock.ops.strings import string_length as length
from penstock.ops.strings import string_lower as lower
from penstock.ops.strings import string_strip as strip
from penstock.ops.strings import string_upper as upper
from penstock.ops.strings import substr
from penstock.ops.unicode import unicode_script, unicode_transcode

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_script",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]
