"""How the judge in kinmem/llm/e5 is made; see scripts/README.md."""
