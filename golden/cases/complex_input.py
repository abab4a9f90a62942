"""A complex input is differentiable, with complex tangents."""
x = tensor(2, 3, dtype="complex64", requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
