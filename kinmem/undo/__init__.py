"""Undoing writes, and erasing everything about a name with proof that it is gone."""
