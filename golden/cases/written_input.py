"""An input that is written: its new value is the first output, and the caller's tensor is updated from it."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x + self.weight
    x.mul_(2)
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Param("weight")), None)
