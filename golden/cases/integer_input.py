"""An integer input has no gradient."""
x = tensor(2, 3, requires_grad=True)
i = tensor(2, dtype="int64")

def forward(x, i):
    y = x[i]
    return y

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), None)
