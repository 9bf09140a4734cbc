"""The statements that every engine shares, and what they ask of it."""
