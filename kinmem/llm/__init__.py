"""Models: what kinmem asks of them (base) and the ways to reach them."""
