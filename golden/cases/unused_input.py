"""An input that the forward does not use keeps its placeholder and its gradient slot, which holds None."""
x = tensor(2, 3, requires_grad=True)
y = tensor(4, requires_grad=True)

def forward(x, y):
    z = torch.sin(x)
    return z

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
