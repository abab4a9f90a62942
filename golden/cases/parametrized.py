"""A parametrized weight goes by the FQN of its original."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
dress("parametrized")

def forward(x):
    y = x * self.weight
    return y

inputs(Param("parametrizations.weight.original"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("parametrizations.weight.original")), None)
