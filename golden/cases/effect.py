"""An ordered effect threads a token, which comes first on both sides (P6, S5)."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    note(x)
    y = x * self.weight
    return y

inputs(ForwardToken(0), Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(ForwardToken(0), Plain(0), Grad(Param("weight")), None)
