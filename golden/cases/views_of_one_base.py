"""Two inputs that are views of one tensor, nobody writes: each stays what it is."""
x = tensor(2, 3, requires_grad=True)
a = x.view((6,))
b = x.t()
call(a, b)

def forward(a, b):
    y = torch.sin(a)
    z = torch.cos(b)
    return y, z

inputs(Plain(0), Plain(1), Tangent(Plain(0)), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Plain(0)), Grad(Plain(1)))
