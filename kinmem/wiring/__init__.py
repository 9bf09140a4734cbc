"""Chooses and opens the store and the models. Only this folder names concrete ones."""
