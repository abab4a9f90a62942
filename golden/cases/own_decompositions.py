"""A decomposition given by the caller is used."""
x = tensor(2, 3, requires_grad=True)
options("own_decompositions")

def forward(x):
    y = torch.tanh(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
