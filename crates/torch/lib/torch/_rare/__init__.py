"""Functions and modules that few scripts ask for: `_missing` finds them here by their names."""
