"""Two inputs are views of one tensor and one is written: the base takes their place, with the mutation and the gradient."""
x = tensor(2, 3, requires_grad=True)
h = x * 2
a = h.view((6,))
b = h.t()
call(a, b)

def forward(a, b):
    a.mul_(2)
    y = torch.sin(b)
    return y

inputs(ViewBase(Plain(0)), Tangent(InputMutation(ViewBase(Plain(0)))), Tangent(Plain(0)))
outputs(InputMutation(ViewBase(Plain(0))), Plain(0), Grad(ViewBase(Plain(0))))
