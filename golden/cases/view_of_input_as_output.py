"""A view of an input is replayed on the caller's tensor: the output has no tangent of its own."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = x.t()
    z = torch.sin(x)
    return y, z

inputs(Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
