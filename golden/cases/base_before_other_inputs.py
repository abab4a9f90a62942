"""A base comes before all other primals, which keep their order."""
x = tensor(4)
w = parameter(2)
s = tensor(2, requires_grad=True)
self.weight = w
a = x[0:2]
b = x[1:3]
call(s, a, b)

def forward(s, a, b):
    a.mul_(2)
    y = b * self.weight
    z = y * s
    return z

inputs(ViewBase(Plain(1)), Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(InputMutation(ViewBase(Plain(1))), Plain(0), None, Grad(Param("weight")), Grad(Plain(0)))
