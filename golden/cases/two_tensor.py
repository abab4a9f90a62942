"""PyTorch's own test subclass of two tensors."""
x = two_tensor(2, 3, requires_grad=True)
y = two_tensor(2, 3, requires_grad=True)

def forward(x, y):
    z = x * y
    return z

inputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassGetAttr(Plain(1), "a"),
    SubclassGetAttr(Plain(1), "b"), SubclassGetAttr(Tangent(Plain(0)), "a"), SubclassGetAttr(Tangent(Plain(0)), "b"),
)
outputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassGetAttr(Grad(Plain(0)), "a"),
    SubclassGetAttr(Grad(Plain(0)), "b"), SubclassGetAttr(Grad(Plain(1)), "a"), SubclassGetAttr(Grad(Plain(1)), "b"),
)
