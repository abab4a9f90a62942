"""A map over rows is a higher-order op with one graph."""
x = tensor(2, 3, requires_grad=True)
y = tensor(3, requires_grad=True)

def forward(x, y):
    z = torch.ops.higher_order.map_impl(row_scaled, (rows(x),), (y.sum(),))[0]
    return z

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
