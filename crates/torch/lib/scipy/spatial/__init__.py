"""Points in space."""

from scipy.spatial import distance
