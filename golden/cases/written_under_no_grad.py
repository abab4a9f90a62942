"""A parameter written under no_grad, as an optimizer does."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w

def forward(x):
    with torch.no_grad():
        self.weight.mul_(2)
    y = x * self.weight
    return y

inputs(Param("weight"), Plain(0), Tangent(InputMutation(Param("weight"))), Tangent(Plain(0)))
outputs(InputMutation(Param("weight")), Plain(0), Grad(Param("weight")), None)
