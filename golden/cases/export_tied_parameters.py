"""A parameter under two names is an input under each of them, and the calls read one of the two (E3)."""
x = tensor(4, 2)
w = parameter(2)
self.weight = w
self.head.weight = w
torch_export()

def forward(x):
    y = x * self.weight
    z = y * self.head.weight
    return z

inputs(Parameter("weight"), Parameter("head.weight"), UserInput(0))
outputs(UserOutput(0))
