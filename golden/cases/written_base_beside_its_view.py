"""A tensor and a view of it are passed, and the tensor is written."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
a = x.t()
call(x, a)

def forward(x, a):
    x.mul_(2)
    y = a @ self.weight
    return y

inputs(ViewBase(Plain(1)), Param("weight"), Tangent(Plain(0)))
outputs(InputMutation(ViewBase(Plain(1))), Plain(0), None, Grad(Param("weight")))
