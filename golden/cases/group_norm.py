"""nn.GroupNorm."""
x = tensor(2, 4, 3, requires_grad=True)
self.layer = group_norm

def forward(x):
    y = self.layer(x)
    return y

inputs(Param("layer.weight"), Param("layer.bias"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.weight")), Grad(Param("layer.bias")), Grad(Plain(0)))
