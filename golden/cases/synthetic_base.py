"""Two inputs share memory without a base that autograd knows: a synthetic one takes their place."""
x = tensor(6)
a = x.detach()
call(x, a)

def forward(x, a):
    x.mul_(2)
    y = torch.sin(a)
    return y

inputs(SyntheticBase(Plain(0)))
outputs(InputMutation(SyntheticBase(Plain(0))), Plain(0))
