"""Documents: a file is read, cut into chunks and stored as one memory. pipeline.py has the
order."""
