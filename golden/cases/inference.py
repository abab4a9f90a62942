"""Where nothing requires grad the graph is an inference graph: no tangents, no gradients (J16)."""
x = tensor(2, 3)

def forward(x):
    y = torch.sin(x)
    return y

inputs(Plain(0))
outputs(Plain(0))
