"""Programs written on Penstock's public API."""
