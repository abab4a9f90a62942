"""A subclass comes and goes in pieces: of the input, the tangent, the output, the gradient (J7)."""
x = pair(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassGetAttr(Tangent(Plain(0)), "a"),
    SubclassGetAttr(Tangent(Plain(0)), "b"),
)
outputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassGetAttr(Grad(Plain(0)), "a"),
    SubclassGetAttr(Grad(Plain(0)), "b"),
)
