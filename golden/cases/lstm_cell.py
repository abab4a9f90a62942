"""An LSTM cell: input, hidden and cell state in, both states out."""
x = tensor(2, 3)
h = tensor(2, 4, requires_grad=True)
c = tensor(2, 4, requires_grad=True)
self.layer = lstm_cell

def forward(x, h, c):
    y, z = self.layer(x, (h, c))
    return y, z

inputs(
    Param("layer.weight_ih"), Param("layer.weight_hh"), Param("layer.bias_ih"), Param("layer.bias_hh"), Plain(0),
    Plain(1), Plain(2), Tangent(Plain(0)), Tangent(Plain(1)),
)
outputs(
    Plain(0), Plain(1), Grad(Param("layer.weight_ih")), Grad(Param("layer.weight_hh")), Grad(Param("layer.bias_ih")),
    Grad(Param("layer.bias_hh")), None, Grad(Plain(1)), Grad(Plain(2)),
)
