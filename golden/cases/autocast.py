"""Under autocast the casts are part of the graph."""
x = tensor(2, 3, requires_grad=True)
w = parameter(3, 2)
self.weight = w

def forward(x):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Plain(0)))
