"""One submodule under two names: each of its parameters has both FQNs."""
x = tensor(2, 3)
w = parameter(2, 3)
self.layer.weight = w
dress("layer_twice")

def forward(x):
    y = x * self.layer.weight
    return y

inputs(Param("layer.weight"), Param("same_layer.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.weight")), Grad(Param("same_layer.weight")), None)
