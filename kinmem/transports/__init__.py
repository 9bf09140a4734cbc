"""How messages reach the server: standard input and output, or HTTP."""
