"""Layer 1: MEMORY.md and USER.md."""
