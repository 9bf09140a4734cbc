"""What a browser and programs see over HTTP: pages for people, and REST (in rest/)."""

from importlib.metadata import version

VERSION = version("kinmem")
"""Not kinmem.__version__: kinmem itself opens memories on servers by rest/client.py."""
