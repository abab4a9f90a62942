"""Causal self-attention: one projection split into queries, keys, values."""
x = tensor(2, 3, 4, requires_grad=True)
self.layer = attention

def forward(x):
    y = self.layer(x)
    return y

inputs(Param("layer.qkv.weight"), Param("layer.out.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.qkv.weight")), Grad(Param("layer.out.weight")), Grad(Plain(0)))
