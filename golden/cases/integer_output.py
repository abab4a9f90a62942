"""An output that cannot be differentiated has no tangent (J6)."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = x.argmax(0)
    return z, y

inputs(Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
