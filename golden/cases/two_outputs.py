"""Each differentiable output has a tangent, in the order of the outputs."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    y = x * self.weight
    z = torch.sin(y)
    return y, z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Param("weight")), None)
