"""What writes JSON."""
from json import JSONEncoder
