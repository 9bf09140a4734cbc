"""Where memories are kept: what is asked of a database (base) and the databases that answer."""
