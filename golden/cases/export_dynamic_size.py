"""A dynamic size is a symbol; range_constraints says between which numbers it was asked to lie (E7, E10)."""
x = tensor(4, 2)
symbolic(4)
torch_export()

def forward(x):
    y = torch.sin(x)
    return y

inputs(UserInput(0))
outputs(UserOutput(0))
