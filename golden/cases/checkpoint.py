"""A checkpointed region is traced once; what it recomputes is left to the partitioner."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = checkpoint(sine_twice, x, use_reentrant=False)
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
