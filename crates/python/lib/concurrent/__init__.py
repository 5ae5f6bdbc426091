"""Work for others, which is done at once here."""
