"""A parameter that does not require grad has no gradient; the trained one beside it has."""
x = tensor(2, 3)
w = parameter(2, 3)
f = parameter(2, 3, requires_grad=False)
self.frozen = f
self.weight = w

def forward(x):
    y = x * self.frozen
    z = y * self.weight
    return z

inputs(Param("frozen"), Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), None, Grad(Param("weight")), None)
