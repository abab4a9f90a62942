"""Random numbers on the CPU are drawn in the graph, without Philox inputs."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = F.dropout(x, 0.5)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
