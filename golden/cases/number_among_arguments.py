"""A number takes its index with it, and has no tensor behind it."""
x = tensor(2, 3, requires_grad=True)
y = tensor(3, requires_grad=True)
call(x, 2, y)

def forward(x, n, y):
    u = x * y
    return u

inputs(Plain(0), Plain(1), Plain(2), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), None, Grad(Plain(2)))
