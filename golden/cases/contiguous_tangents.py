"""Without the guess, tangents are taken to be contiguous."""
x = tensor(2, 3, requires_grad=True)
options("config.guess_tangent_strides_as_outputs")

def forward(x):
    y = torch.sin(x)
    z = y.t()
    return z

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
