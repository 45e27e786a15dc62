"""What other agents remember, taken over."""
