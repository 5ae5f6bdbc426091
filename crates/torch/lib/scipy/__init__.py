"""What scripts take from SciPy beside torch: a filter, an assignment, densities of the normal distribution, distances."""

__version__ = "1.14.0"
