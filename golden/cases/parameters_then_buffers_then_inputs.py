"""Primals come in this order: parameters, buffers, what the caller passes, whatever the module's own order (J3)."""
x = tensor(2, 3)
b = tensor(2, 3)
w = parameter(2, 3)
v = parameter(2, 3)
self.scale = b
self.first = w
self.second = v

def forward(x):
    y = x * self.first
    z = y * self.scale
    u = z * self.second
    return u

inputs(Param("first"), Param("second"), Buffer("scale"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("first")), Grad(Param("second")), None, None)
