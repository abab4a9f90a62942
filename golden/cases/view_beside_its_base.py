"""An output and a view of it: the output itself is the base."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = y.t()
    return y, z

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
