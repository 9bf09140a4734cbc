"""A question becomes hits; pipeline.py has the order of the stages."""
