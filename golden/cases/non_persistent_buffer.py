"""A buffer that is no part of the state is an input as any other buffer."""
x = tensor(2, 3, requires_grad=True)
b = tensor(2, 3)
self.register_buffer("scale", b, persistent=False)

def forward(x):
    y = x * self.scale
    return y

inputs(Buffer("scale"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), None, Grad(Plain(0)))
