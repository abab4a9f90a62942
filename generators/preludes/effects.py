"""Where effectful ops leave their marks."""

#: What the effectful ops did, in order: the op's name, and what it was called with.
EFFECTS: list[tuple[str, object]] = []
