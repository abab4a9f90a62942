"""A scan stays a higher-order op with one graph for its steps, also after a decomposition (E4, E11)."""
x = tensor(4, 2)
torch_export("decomposed")

def forward(x):
    y, z = torch.ops.higher_order.scan(running, [fresh(x)[0]], [fresh(x)], ())
    return y, z

inputs(UserInput(0))
outputs(UserOutput(0), UserOutput(1))
