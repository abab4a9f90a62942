"""An assignment to a row is a mutation of the whole input."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    x[0] = 1
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Param("weight")), None)
