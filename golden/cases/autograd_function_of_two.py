"""An autograd function of two inputs, with a gradient for each."""
x = tensor(2, 3, requires_grad=True)
y = tensor(2, 3, requires_grad=True)

def forward(x, y):
    z = Product.apply(x, y)
    return z

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
