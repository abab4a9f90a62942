"""After a decomposition a buffer that forward writes is an output before the results; the graph itself writes nothing (E4)."""
x = tensor(4, 2)
b = tensor(4, 2)
self.count = b
torch_export("decomposed")

def forward(x):
    self.count.add_(x)
    y = x * self.count
    return y

inputs(Buffer("count"), UserInput(0))
outputs(BufferMutation("count"), UserOutput(0))
