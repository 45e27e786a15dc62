"""One module per claim in the README; each prints JSON."""
