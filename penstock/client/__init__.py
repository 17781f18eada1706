"""What a program holds in its hands: sessions, fetches and feeds."""
