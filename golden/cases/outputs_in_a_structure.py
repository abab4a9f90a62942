"""Outputs are numbered leaf by leaf, however they are nested."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = torch.cos(x)
    return {"first": y, "rest": [z, (y,)]}

inputs(Plain(0), Tangent(Plain(0)), Tangent(Plain(1)), Tangent(Plain(2)))
outputs(Plain(0), Plain(1), Plain(2), Grad(Plain(0)))
