"""`kinmem hook`: what the hooks of clients report comes in, and notes that fit go out."""
