"""A buffer that is no part of the state is lifted as others are, and the signature says that it does not persist (E3)."""
x = tensor(4, 2)
b = tensor(2)
self.register_buffer("scale", b, persistent=False)
torch_export()

def forward(x):
    y = x * self.scale
    return y

inputs(Buffer("scale", persistent=False), UserInput(0))
outputs(UserOutput(0))
