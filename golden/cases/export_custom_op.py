"""A custom op stays the call that it is, also after a decomposition (E4)."""
x = tensor(4, 2)
torch_export("decomposed")

def forward(x):
    y = doubled(x)
    return y

inputs(UserInput(0))
outputs(UserOutput(0))
