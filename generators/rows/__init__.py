"""Rows of the vocabulary beyond plain tensor ops, one file a topic."""
