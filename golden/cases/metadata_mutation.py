"""Views of one written base: the one that also changes its shape gives a metadata mutation, after the plain outputs."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
a = x.view((6,))
call(x, a)

def forward(x, a):
    x.t_()
    a.mul_(2)
    y = torch.sin(self.weight)
    return y

inputs(ViewBase(Plain(1)), Param("weight"), Tangent(Plain(0)))
outputs(InputMutation(ViewBase(Plain(1))), Plain(0), MetadataMutation(0), None, Grad(Param("weight")))
