"""A change of an input's shape is a mutation of the input, though no element is written."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x + self.weight
    x.t_()
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Param("weight")), None)
