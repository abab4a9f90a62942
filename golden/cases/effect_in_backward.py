"""An effect in the backward threads a token of its own, which comes last on both sides."""
x = tensor(2, 3, requires_grad=True)

def forward(x):
    y = NotedBackward.apply(x)
    return y

inputs(Plain(0), Tangent(Plain(0)), BackwardToken(0))
outputs(Plain(0), Grad(Plain(0)), BackwardToken(0))
