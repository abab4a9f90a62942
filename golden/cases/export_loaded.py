"""A program that was saved and loaded is the same; not decomposed, it writes its buffer in the graph (E8)."""
x = tensor(4, 2)
b = tensor(4, 2)
w = parameter(2)
self.count = b
self.weight = w
torch_export("loaded")

def forward(x):
    self.count.mul_(2)
    y = x * self.count
    z = y * self.weight
    return {"result": z}

inputs(Parameter("weight"), Buffer("count"), UserInput(0))
outputs(UserOutput(0))
