"""Models: the interfaces kinmem uses (base), and the ways to run or reach models."""
