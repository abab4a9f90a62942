"""Plain inputs keep their index beside the pieces of a subclass."""
x = tensor(2, 3, requires_grad=True)
p = pair(2, 3, requires_grad=True)

def forward(x, p):
    y = torch.sin(x)
    z = torch.cos(p)
    return y, z

inputs(
    Plain(0), SubclassGetAttr(Plain(1), "a"), SubclassGetAttr(Plain(1), "b"), Tangent(Plain(0)),
    SubclassGetAttr(Tangent(Plain(1)), "a"), SubclassGetAttr(Tangent(Plain(1)), "b"),
)
outputs(
    Plain(0), SubclassGetAttr(Plain(1), "a"), SubclassGetAttr(Plain(1), "b"), Grad(Plain(0)),
    SubclassGetAttr(Grad(Plain(1)), "a"), SubclassGetAttr(Grad(Plain(1)), "b"),
)
