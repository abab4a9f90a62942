"""A router picks one of two experts for each token."""
x = tensor(3, 4)
self.layer = mixture_of_experts

def forward(x):
    y = self.layer(x)
    return y

inputs(
    Param("layer.router.weight"), Param("layer.one.weight"), Param("layer.one.bias"), Param("layer.other.weight"),
    Param("layer.other.bias"), Plain(0), Tangent(Plain(0)),
)
outputs(
    Plain(0), Grad(Param("layer.router.weight")), Grad(Param("layer.one.weight")), Grad(Param("layer.one.bias")),
    Grad(Param("layer.other.weight")), Grad(Param("layer.other.bias")), None,
)
