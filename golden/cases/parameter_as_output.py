"""A parameter may be returned."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x * self.weight
    return self.weight, y

inputs(Param("weight"), Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Param("weight")), None)
