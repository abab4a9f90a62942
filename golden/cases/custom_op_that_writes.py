"""A custom op that writes its input is made functional; the write is a mutation."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    triple_(x)
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Param("weight")), None)
