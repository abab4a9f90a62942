"""A tensor that is no leaf, passed twice, stays two inputs."""
x = tensor(2, 3, requires_grad=True)
h = torch.sin(x)
call(h, h)

def forward(x, y):
    z = torch.cos(x)
    u = z * y
    return u

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
