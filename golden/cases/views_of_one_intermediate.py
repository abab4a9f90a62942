"""Two outputs that are views of one intermediate: it comes as an intermediate base, which has the tangent."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    z = y.view((6,))
    u = y.t()
    return z, u

inputs(Plain(0), Tangent(IntermediateBase(Plain(0))))
outputs(Plain(0), Plain(1), IntermediateBase(Plain(0)), Grad(Plain(0)))
