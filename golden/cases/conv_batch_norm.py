"""Convolution and BatchNorm in training: the three buffers that BatchNorm writes come first among the outputs."""
x = tensor(2, 2, 3, 3)
self.layer = conv_batch_norm

def forward(x):
    y = self.layer(x)
    return y

inputs(
    Param("layer.conv.weight"), Param("layer.conv.bias"), Param("layer.norm.weight"), Param("layer.norm.bias"),
    Buffer("layer.norm.running_mean"), Buffer("layer.norm.running_var"), Buffer("layer.norm.num_batches_tracked"),
    Plain(0), Tangent(Plain(0)),
)
outputs(
    InputMutation(Buffer("layer.norm.running_mean")), InputMutation(Buffer("layer.norm.running_var")),
    InputMutation(Buffer("layer.norm.num_batches_tracked")), Plain(0), Grad(Param("layer.conv.weight")),
    Grad(Param("layer.conv.bias")), Grad(Param("layer.norm.weight")), Grad(Param("layer.norm.bias")), None, None,
    None, None,
)
