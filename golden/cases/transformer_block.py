"""A transformer encoder layer: attention, feed-forward, two norms."""
x = tensor(2, 3, 4)
self.layer = transformer

def forward(x):
    y = self.layer(x)
    return y

inputs(
    Param("layer.self_attn.in_proj_weight"), Param("layer.self_attn.in_proj_bias"),
    Param("layer.self_attn.out_proj.weight"), Param("layer.self_attn.out_proj.bias"), Param("layer.linear1.weight"),
    Param("layer.linear1.bias"), Param("layer.linear2.weight"), Param("layer.linear2.bias"),
    Param("layer.norm1.weight"), Param("layer.norm1.bias"), Param("layer.norm2.weight"), Param("layer.norm2.bias"),
    Plain(0), Tangent(Plain(0)),
)
outputs(
    Plain(0), Grad(Param("layer.self_attn.in_proj_weight")), Grad(Param("layer.self_attn.in_proj_bias")),
    Grad(Param("layer.self_attn.out_proj.weight")), Grad(Param("layer.self_attn.out_proj.bias")),
    Grad(Param("layer.linear1.weight")), Grad(Param("layer.linear1.bias")), Grad(Param("layer.linear2.weight")),
    Grad(Param("layer.linear2.bias")), Grad(Param("layer.norm1.weight")), Grad(Param("layer.norm1.bias")),
    Grad(Param("layer.norm2.weight")), Grad(Param("layer.norm2.bias")), None,
)
