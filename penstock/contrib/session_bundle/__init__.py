"""`tf.contrib.session_bundle`: the form that models were exported in before SavedModel."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(__name__)
