"""What is computed under no_grad has no tangent."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    with torch.no_grad():
        y = torch.sin(x)
    z = torch.cos(x)
    return y, z

inputs(Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)))
