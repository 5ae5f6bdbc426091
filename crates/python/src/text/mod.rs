//! Text as CPython writes it: numbers, format specifications, algorithms of `str`. Pure functions, no values of the machine.
