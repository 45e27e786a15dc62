"""Wire shapes of model vendors, and nothing else (pure)."""
