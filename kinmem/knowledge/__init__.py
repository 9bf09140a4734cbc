"""What is known of people and things: who they are, how they relate, and since when."""
