"""A placeholder has the strides of what the caller passed (J11)."""
x = tensor(2, 3, stride=(1, 2), requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
