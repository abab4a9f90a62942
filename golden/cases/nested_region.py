"""A nested compile region is a call of a subgraph, differentiated with a subgraph of its own."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = invoke(SINE_TIMES, 'first', fresh(x))[0]
    return y

inputs(Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)))
