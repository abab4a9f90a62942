"""A differentiable input is a primal, its output has a tangent, and the gradient comes last."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
