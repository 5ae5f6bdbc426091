//! Algorithms of the standard library without types of the machine: random numbers, JSON, regular expressions, dates.
