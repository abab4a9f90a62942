"""Annotations reach the nodes of the forward and of its backward (J25)."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    with torch.fx.traceback.annotate({"part": "one"}):
        y = torch.sin(x)
    z = torch.cos(y)
    return z

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
