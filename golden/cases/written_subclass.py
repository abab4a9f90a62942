"""A subclass that is written: the pieces of its mutation."""
x = pair(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    x.mul_(2)
    y = torch.sin(self.weight)
    return y

inputs(Param("weight"), SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), Tangent(Plain(0)))
outputs(
    SubclassGetAttr(InputMutation(Plain(0)), "a"), SubclassGetAttr(InputMutation(Plain(0)), "b"), Plain(0),
    Grad(Param("weight")), None,
)
