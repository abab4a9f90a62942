"""A keyword argument is the next plain index after the positional ones."""
x = tensor(2, 3, requires_grad=True)
s = tensor(3, requires_grad=True)
call(x, scale=s)

def forward(x, scale):
    y = x * scale
    return y

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
