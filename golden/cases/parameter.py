"""A parameter comes before what the caller passes; an input without gradient keeps an empty slot."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
