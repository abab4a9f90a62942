"""One leaf passed twice stays two inputs, each with a gradient of its own: eager's is their sum (S3)."""
x = tensor(2, 3, requires_grad=True)
call(x, x)

def forward(x, y):
    z = torch.sin(x)
    u = z * y
    return u

inputs(Plain(0), Plain(1), Tangent(Plain(0)))
outputs(Plain(0), Grad(Plain(0)), Grad(Plain(1)))
