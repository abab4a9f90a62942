"""A parameter is lifted: it is an input of the graph, before the user's own, and the signature has its FQN (E2, E3)."""
x = tensor(4, 2)
w = parameter(2)
self.head.weight = w
torch_export()

def forward(x):
    y = x * self.head.weight
    return y

inputs(Parameter("head.weight"), UserInput(0))
outputs(UserOutput(0))
