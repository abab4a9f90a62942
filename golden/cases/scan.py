"""A scan is a higher-order op that carries a value from step to step."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y, z = torch.ops.higher_order.scan(running, [fresh(x)[0]], [fresh(x)], ())
    return y, z

inputs(Plain(0), Tangent(Plain(0)), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
