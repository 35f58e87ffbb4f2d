"""Pre-grading by judges: what they are asked, and what is made of their replies."""
