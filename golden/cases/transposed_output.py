"""A tangent has the strides of its output (J26)."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = y.t()
    return z

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
