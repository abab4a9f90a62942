"""Programs whose module holds what is no parameter and no buffer: written as named cases are, and judged in every form.

No graph of theirs is stored. A tensor that forward makes of numbers has no name that a document promises: what each case
states is what torch calls it.
"""

from __future__ import annotations

HELD: dict[str, str] = {
    "held_constants": '''
"""A tensor that the module holds is a constant by its FQN, one that forward makes of numbers another; neither is state (E3)."""
x = tensor(3, 2)
b = tensor(2)
self.layer = with_constants
self.register_buffer("scale", b, persistent=False)
torch_export()

def forward(x):
    y = self.layer(x)
    z = y * self.scale
    return z

inputs(
    Parameter("layer.weight"),
    Buffer("scale", persistent=False),
    ConstantTensor("layer.offset"),
    ConstantTensor("layer.lifted_tensor_0"),
    ConstantTensor("layer.inner.offset"),
    UserInput(0),
)
outputs(UserOutput(0))
''',
    "held_object": '''
"""A custom object that the module holds is an input of its own kind, and is found among the constants (E3)."""
x = tensor(3, 2)
self.layer = with_object
torch_export()

def forward(x):
    y = self.layer(x)
    return y

inputs(Parameter("layer.weight"), CustomObj("layer.lifted_custom_0"), UserInput(0))
outputs(UserOutput(0))
''',
}
