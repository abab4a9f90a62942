"""An input returned as it is is handed back to the caller, not computed."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return x, y

inputs(Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
