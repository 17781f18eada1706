"""The tutorials' programs and data."""
