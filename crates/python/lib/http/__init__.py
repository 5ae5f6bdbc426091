"""Scripts have no network: the names of `http.client` are there, for packages that import them at their heads."""
