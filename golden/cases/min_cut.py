"""The partitioner is chosen at the compile; the joint graph does not depend on it."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
options("min_cut")

def forward(x):
    y = x * self.weight
    z = F.softplus(y)
    return z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
