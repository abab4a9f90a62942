"""A ResNet block: two convolutions with BatchNorm, and a shortcut."""
x = tensor(2, 2, 3, 3, requires_grad=True)
self.layer = residual_block

def forward(x):
    y = self.layer(x)
    return y

inputs(
    Param("layer.first.conv.weight"), Param("layer.first.conv.bias"), Param("layer.first.norm.weight"),
    Param("layer.first.norm.bias"), Param("layer.second.conv.weight"), Param("layer.second.conv.bias"),
    Param("layer.second.norm.weight"), Param("layer.second.norm.bias"), Buffer("layer.first.norm.running_mean"),
    Buffer("layer.first.norm.running_var"), Buffer("layer.first.norm.num_batches_tracked"),
    Buffer("layer.second.norm.running_mean"), Buffer("layer.second.norm.running_var"),
    Buffer("layer.second.norm.num_batches_tracked"), Plain(0), Tangent(Plain(0)),
)
outputs(
    InputMutation(Buffer("layer.first.norm.running_mean")), InputMutation(Buffer("layer.first.norm.running_var")),
    InputMutation(Buffer("layer.first.norm.num_batches_tracked")),
    InputMutation(Buffer("layer.second.norm.running_mean")), InputMutation(Buffer("layer.second.norm.running_var")),
    InputMutation(Buffer("layer.second.norm.num_batches_tracked")), Plain(0), Grad(Param("layer.first.conv.weight")),
    Grad(Param("layer.first.conv.bias")), Grad(Param("layer.first.norm.weight")),
    Grad(Param("layer.first.norm.bias")), Grad(Param("layer.second.conv.weight")),
    Grad(Param("layer.second.conv.bias")), Grad(Param("layer.second.norm.weight")),
    Grad(Param("layer.second.norm.bias")), None, None, None, None, None, None, Grad(Plain(0)),
)
