"""Something said becomes a memory, or is known already."""
