"""Equal symbolic sizes are one symbol."""
x = tensor(2, 3, requires_grad=True)
y = tensor(3, 2, requires_grad=True)
symbolic(2)

def forward(x, y):
    z = x @ y
    return z

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
