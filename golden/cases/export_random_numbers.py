"""Two draws keep their order, also after a decomposition; the generator is no input (E4, E8)."""
x = tensor(4, 2)
torch_export("decomposed")

def forward(x):
    y = torch.rand_like(x)
    z = torch.randn_like(x)
    u = x * y
    v = u * z
    return v

inputs(UserInput(0))
outputs(UserOutput(0))
