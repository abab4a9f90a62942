"""A plain index counts the leaves of (args, kwargs), however they are nested."""
x = tensor(2, 3, requires_grad=True)
y = tensor(3)
z = tensor(3, requires_grad=True)
call([x, (y,)], by={"scale": z})

def forward(x, y, z):
    u = x * y
    v = u * z
    return v

inputs(Plain(0), Plain(1), Plain(2), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), None, Grad(Plain(2)))
