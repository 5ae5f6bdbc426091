"""Layers of einops."""
