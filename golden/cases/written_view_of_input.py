"""A write to a view of an input is a mutation of the input."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x.t()
    y.mul_(2)
    z = x * self.weight
    return z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Param("weight")), None)
