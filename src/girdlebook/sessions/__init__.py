"""Layer 2: what happened, searchable."""
