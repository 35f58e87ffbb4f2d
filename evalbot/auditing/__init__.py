"""What the grades of a run say of one another: comparisons, corrected rates, the judges' audit."""
