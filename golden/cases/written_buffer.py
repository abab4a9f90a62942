"""A written buffer comes first among the outputs (J4)."""
x = tensor(2, 3)
w = parameter(2, 3)
c = tensor(2, 3)
self.weight = w
self.count = c

def forward(x):
    self.count.add_(1)
    y = x * self.weight
    return y

inputs(Param("weight"), Buffer("count"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(Buffer("count")), Plain(0), Grad(Param("weight")), None, None)
