"""What reads JSON."""
from json import JSONDecodeError, JSONDecoder
