"""A loop is a higher-order op with a graph for the condition and one for the body."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
symbolic(2)

def forward(x):
    y = torch.ops.higher_order.while_loop(is_early, squared_step, (torch.tensor(0), fresh(x)), ())[1]
    z = torch.sin(self.weight)
    return y, z

inputs(Param("weight"), Plain(0), Tangent(Plain(1)))
outputs(Plain(0), Plain(1), Grad(Param("weight")), None)
