"""How fast evalbot itself is: `make bench`. Figures go to docs/performance.md."""
