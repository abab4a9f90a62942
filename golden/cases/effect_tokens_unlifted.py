"""Tokens are unlifted where the graph is compiled: on the joint graph they are inputs and outputs as always."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
options("config.unlift_effect_tokens")

def forward(x):
    note(x)
    y = x * self.weight
    return y

inputs(ForwardToken(0), Param("weight"), Plain(0), Tangent(Plain(0)))
outputs(ForwardToken(0), Plain(0), Grad(Param("weight")), None)
