"""A GRU cell."""
x = tensor(2, 3)
h = tensor(2, 4, requires_grad=True)
self.layer = gru_cell

def forward(x, h):
    y = self.layer(x, h)
    return y

inputs(
    Param("layer.weight_ih"), Param("layer.weight_hh"), Param("layer.bias_ih"), Param("layer.bias_hh"), Plain(0),
    Plain(1), Tangent(Plain(0)),
)
outputs(
    Plain(0), Grad(Param("layer.weight_ih")), Grad(Param("layer.weight_hh")), Grad(Param("layer.bias_ih")),
    Grad(Param("layer.bias_hh")), None, Grad(Plain(1)),
)
