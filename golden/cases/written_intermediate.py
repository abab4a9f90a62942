"""A write to an intermediate is no mutation: functionalization leaves no trace of it in the descriptors."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    y.mul_(2)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
