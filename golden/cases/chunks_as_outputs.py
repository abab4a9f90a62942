"""The parts that one call splits a tensor into are outputs with tangents of their own, without an intermediate base."""
x = tensor(4, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z, u = y.chunk(2, 0)
    return z, u

inputs(Plain(0), Tangent(Plain(0)), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
