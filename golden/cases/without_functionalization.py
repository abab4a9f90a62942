"""Switched off, functionalization leaves the write where it was."""
x = tensor(2, 3, requires_grad=True)
options("disable_functionalization")

def forward(x):
    y = torch.sin(x)
    y.mul_(2)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
