"""What Penstock needs of the machine: files, records on disk, checksums."""
