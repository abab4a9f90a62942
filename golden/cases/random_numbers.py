"""Two draws keep their order."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.rand_like(x)
    z = torch.randn_like(x)
    u = x * y
    v = u * z
    return v

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
