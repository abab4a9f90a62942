"""A forward hook of the module is part of what is traced."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
dress("forward_hook")

def forward(x):
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
