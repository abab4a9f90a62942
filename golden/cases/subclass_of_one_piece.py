"""A subclass with one inner tensor and a number beside it."""
x = scaled(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(SubclassGetAttr(Plain(0), "inner"), SubclassGetAttr(Tangent(Plain(0)), "inner"))
outputs(SubclassGetAttr(Plain(0), "inner"), SubclassGetAttr(Grad(Plain(0)), "inner"))
