"""A parameter of a submodule goes by its whole FQN."""
x = tensor(2, 3)
w = parameter(2, 3)
self.block.linear.weight = w

def forward(x):
    y = x * self.block.linear.weight
    return y

inputs(Param("block.linear.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("block.linear.weight")), None)
