"""How clusters of many workers would scale, in virtual time: docs/scaling.md."""
