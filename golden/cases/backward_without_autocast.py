"""The backward of what ran under autocast, traced without it."""
x = tensor(2, 3, requires_grad=True)
w = parameter(3, 2)
self.weight = w
options("config.backward_pass_autocast")

def forward(x):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Plain(0)))
