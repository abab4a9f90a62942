"""Classes, functions and custom ops that programs speak of: text for stand-alone scripts (generators/prelude.py)."""
