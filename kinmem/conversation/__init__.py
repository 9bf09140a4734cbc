"""A running conversation: turns come in, notes go out, and long conversations are kept short."""
