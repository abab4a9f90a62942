"""A hook on an intermediate changes the gradient that flows on."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    hook(y, doubled_gradient)
    z = torch.cos(y)
    return z

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
