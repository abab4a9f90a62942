"""The user's inputs and outputs are flat, numbers among them, and call_spec has the structure (E3, E9)."""
x = tensor(4, 2)
y = tensor(2)
z = tensor(2)
call([x, (2, y)], by={"scale": z})
torch_export()

def forward(x, n, y, z):
    u = x * y
    v = u * z
    return {"first": u, "others": [v, None]}

inputs(UserInput(0), UserInput(1, value=2), UserInput(2), UserInput(3))
outputs(UserOutput(0), UserOutput(1), UserOutput(2, value=None))
