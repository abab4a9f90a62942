"""Hooks on what is saved for the backward are traced."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    with torch.autograd.graph.saved_tensors_hooks(kept_as_it_is, given_back_doubled):
        y = torch.sin(x)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
