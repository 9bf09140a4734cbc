"""Export and import: all that a Kin remembers, as JSONL without loss, or as Markdown to be read."""
