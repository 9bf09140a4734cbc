"""The page for people: what is remembered, why it is recalled, and how to put it right."""
