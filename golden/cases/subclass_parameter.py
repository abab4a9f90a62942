"""A parameter of a subclass, beside a plain input."""
x = tensor(2, 3)
w = parameter(2, 3, subclass="pair")
self.weight = w

def forward(x):
    y = torch.sin(self.weight)
    return y, x

inputs(
    SubclassGetAttr(Param("weight"), "a"), SubclassGetAttr(Param("weight"), "b"), Plain(0),
    SubclassGetAttr(Tangent(Plain(0)), "a"), SubclassGetAttr(Tangent(Plain(0)), "b"),
)
outputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), Plain(1),
    SubclassGetAttr(Grad(Param("weight")), "a"), SubclassGetAttr(Grad(Param("weight")), "b"), None,
)
