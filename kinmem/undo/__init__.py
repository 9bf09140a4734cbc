"""Writes taken back, and all about a name forgotten and proved gone."""
