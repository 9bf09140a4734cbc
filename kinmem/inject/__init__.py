"""What a session is told of the memory without asking."""
