"""Where memories are kept: what is asked of a database, in small protocols, and what answers."""
