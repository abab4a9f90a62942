"""Two names of one buffer that nobody writes stay two inputs."""
x = tensor(2, 3, requires_grad=True)
b = tensor(2, 3)
self.scale = b
self.other.scale = b

def forward(x):
    y = x * self.scale
    z = y * self.other.scale
    return z

inputs(Buffer("scale"), Buffer("other.scale"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), None, None, Grad(Plain(0)))
