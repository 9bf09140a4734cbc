"""What is known of people and things: who they are, how they belong together, and since when."""
