"""A condition is a higher-order op; get_attr reads the graph of each branch (E2, E11)."""
x = tensor(4, 2)
torch_export()

def forward(x):
    y = torch.ops.higher_order.cond(mostly_positive(x), twofold, squared, (x,))[0]
    return y

inputs(UserInput(0))
outputs(UserOutput(0))
