"""An autograd function's backward is traced into the graph."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = Cube.apply(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
