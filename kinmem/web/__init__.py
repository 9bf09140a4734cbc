"""What a browser and programs see over HTTP: pages for people, and REST (in rest/)."""
