"""A decomposition leaves functional calls alone: a write through a view becomes a new value of its base (E4)."""
x = tensor(4, 2)
w = parameter(2, 2)
self.weight = w
torch_export("decomposed")

def forward(x):
    y = F.linear(x, self.weight)
    z = y.t()
    z.add_(1)
    return y

inputs(Parameter("weight"), UserInput(0))
outputs(UserOutput(0))
