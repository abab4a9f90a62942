"""After a decomposition an input that forward writes is an output before the results, told by the input (E3, E4)."""
x = tensor(4, 2)
y = tensor(4, 2)
torch_export("decomposed")

def forward(x, y):
    y.mul_(2)
    z = x + y
    return z

inputs(UserInput(0), UserInput(1))
outputs(UserInputMutation(1), UserOutput(0))
