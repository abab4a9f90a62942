"""nn.Linear: weight, bias, input."""
x = tensor(2, 3)
self.layer = linear

def forward(x):
    y = self.layer(x)
    return y

inputs(Param("layer.weight"), Param("layer.bias"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.weight")), Grad(Param("layer.bias")), None)
