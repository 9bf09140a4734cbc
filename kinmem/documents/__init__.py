"""A file becomes a memory: it is read, cut into chunks and stored; pipeline.py has the order."""
