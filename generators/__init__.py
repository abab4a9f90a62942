"""What a program is, the vocabulary of ops, and how to draw, build, print and reduce programs."""
