"""`tf.flags`: command-line flags; the same module as `tf.app.flags`."""

import sys

from penstock.platform import flags

# One module under both names: what a program sets on one is set on the other.
sys.modules[__name__] = flags
