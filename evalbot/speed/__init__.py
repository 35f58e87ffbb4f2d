"""Speed: sweeps over endpoints, what their figures say, and what they cost."""
