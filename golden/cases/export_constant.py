"""A tensor that forward makes of a number is lifted: an input that neither the caller nor the module has (E2, E3)."""
x = tensor(4, 2)
w = parameter(2)
self.weight = w
torch_export()

def forward(x):
    y = torch.ops.higher_order.while_loop(is_early, squared_step, (torch.tensor(0), fresh(x)), ())[1]
    z = y * self.weight
    return z

inputs(Parameter("weight"), ConstantTensor("lifted_tensor_0"), UserInput(0))
outputs(UserOutput(0))
