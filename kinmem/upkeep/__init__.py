"""Memories become better ones: vectors made, duplicates settled, reviews."""
