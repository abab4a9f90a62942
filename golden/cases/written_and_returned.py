"""An input that is written and returned: the output is the caller's own tensor."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x + self.weight
    x.mul_(2)
    return x, y

inputs(Param("weight"), Plain(0), Tangent(Plain(1)))
outputs(InputMutation(Plain(0)), Plain(0), Plain(1), Grad(Param("weight")), None)
