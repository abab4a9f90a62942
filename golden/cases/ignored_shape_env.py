"""The sizes are as without the option, where they are static."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
options("ignore_shape_env")

def forward(x):
    y = x * self.weight
    z = F.softplus(y)
    return z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
