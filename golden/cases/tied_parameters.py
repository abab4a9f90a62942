"""Two names of one parameter stay two inputs, each with a gradient of its own: eager's is their sum (S3)."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
self.head.weight = w

def forward(x):
    y = x * self.weight
    z = y * self.head.weight
    return z

inputs(Param("weight"), Param("head.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Param("head.weight")), None)
