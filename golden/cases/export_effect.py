"""After a decomposition an ordered effect takes a token and gives one back, the first on both sides (E3, E4)."""
x = tensor(4, 2)
w = parameter(2)
self.weight = w
torch_export("decomposed")

def forward(x):
    note(x)
    y = x * self.weight
    return y

inputs(Token(), Parameter("weight"), UserInput(0))
outputs(Token(), UserOutput(0))
