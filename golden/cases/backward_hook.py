"""A backward hook of the module changes its gradients."""
x = tensor(2, 3, requires_grad=True)
w = parameter(2, 3)
self.weight = w
dress("full_backward_hook")

def forward(x):
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Plain(0)))
