"""A subclass that the forward makes of a plain tensor: only output and tangent are in pieces."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = ToPair.apply(x)
    return y

inputs(Plain(0), SubclassGetAttr(Tangent(Plain(0)), "a"), SubclassGetAttr(Tangent(Plain(0)), "b"))
outputs(SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), Grad(Plain(0)))
