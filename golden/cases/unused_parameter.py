"""A parameter that the forward does not use keeps its placeholder and its gradient slot, which holds None (J23)."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
v = parameter(3)
self.idle = v

def forward(x):
    y = x * self.weight
    return y

inputs(Param("weight"), Param("idle"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Param("idle")), None)
