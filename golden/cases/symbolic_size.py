"""A symbolic size of a plain tensor is no input: the graph reads it off the tensor."""
x = tensor(2, 3, requires_grad=True)
symbolic(2)

def forward(x):
    y = x * x.size(0)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
