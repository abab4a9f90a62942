"""A frozen linear layer with a trained correction: no gradient for what is frozen."""
x = tensor(2, 3)
self.layer = low_rank

def forward(x):
    y = self.layer(x)
    return y

inputs(
    Param("layer.frozen.weight"), Param("layer.frozen.bias"), Param("layer.down.weight"), Param("layer.up.weight"),
    Plain(0), Tangent(Plain(0)),
)
outputs(Plain(0), None, None, Grad(Param("layer.down.weight")), Grad(Param("layer.up.weight")), None)
