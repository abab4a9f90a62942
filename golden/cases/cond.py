"""A condition is a higher-order op with a graph for each branch, forward and backward (E11)."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = torch.ops.higher_order.cond(mostly_positive(x), twofold, squared, (x,))[0]
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
