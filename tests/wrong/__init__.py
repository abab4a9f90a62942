"""Implementations that are wrong on purpose, at least one for each rule: a rule that catches nothing is no rule."""
