"""How memories age: what is left of one (retention), how much it matters, and its tier (tiers)."""
