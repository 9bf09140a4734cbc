"""REST: the same memory for programs, as JSON over HTTP."""
