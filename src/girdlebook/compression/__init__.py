"""Layer 3: making room in a full context window."""
