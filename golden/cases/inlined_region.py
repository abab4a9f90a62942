"""A region that no Dynamo has captured is traced as if its code stood there."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = region(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
