"""A tensor without elements goes the same way as any."""
x = tensor(0, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
