"""What scripts take from scikit-learn beside torch: made-up and small data sets, splits, scalers and scores. Models are torch's."""

__version__ = "1.5.0"
