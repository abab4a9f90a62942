"""The graph is the same without that metadata."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
options("disable_torch_fn_metadata_mode")

def forward(x):
    y = x * self.weight
    z = F.softplus(y)
    return z

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), None)
