"""Nodes carry the stack of modules; the graph is the same."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
options("record_nn_module_stack")

def forward(x):
    y = x * self.weight
    z = F.softplus(y)
    return z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
