"""None and a number take their place among the outputs, without a tangent."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y, None, 2

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Plain(1), Plain(2), Grad(Plain(0)))
