"""Two effects of one kind share one token, in program order."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = noted(x)
    z = noted(y)
    return z

inputs(ForwardToken(0), Plain(0), Tangent(Plain(0)))
outputs(ForwardToken(0), Plain(0), Grad(Plain(0)))
