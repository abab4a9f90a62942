"""An output that was detached has no tangent."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = y.detach()
    u = torch.cos(y)
    return z, u

inputs(Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
