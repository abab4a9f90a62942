"""Symbolic sizes of a subclass are inputs after its pieces, and outputs likewise."""
x = pair(2, 3, requires_grad=True)
symbolic(2)

def forward(x):
    y = torch.sin(x)
    return y

inputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassSize(Plain(0), 0),
    SubclassGetAttr(Tangent(Plain(0)), "a"), SubclassGetAttr(Tangent(Plain(0)), "b"),
)
outputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassSize(Plain(0), 0),
    SubclassGetAttr(Grad(Plain(0)), "a"), SubclassGetAttr(Grad(Plain(0)), "b"), SubclassSize(Grad(Plain(0)), 0),
)
