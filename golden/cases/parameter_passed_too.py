"""A parameter that the caller also passes is two inputs, as parameter and as argument."""
w = parameter(2, 3)
self.weight = w
call(w)

def forward(x):
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("weight")), Grad(Plain(0)))
