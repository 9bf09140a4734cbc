"""A conversation as it passes by: turns in, notes out, and long talk kept short."""
