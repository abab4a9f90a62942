"""A written input that autograd reaches: the mutation has a tangent, the old value a gradient."""
x = tensor(2, 3, requires_grad=True)
h = x * 2
call(h)

def forward(h):
    h.sin_()
    y = h * 3.0
    return y

inputs(Plain(0), Tangent(InputMutation(Plain(0))), Tangent(Plain(0)))
outputs(InputMutation(Plain(0)), Plain(0), Grad(Plain(0)))
