"""A symbolic stride of a subclass is an input after its sizes."""
x = pair(2, 5, requires_grad=True)
symbolic(2, 5)

def forward(x):
    y = torch.sin(x)
    return y

inputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassSize(Plain(0), 0),
    SubclassSize(Plain(0), 1), SubclassStride(Plain(0), 0), SubclassGetAttr(Tangent(Plain(0)), "a"),
    SubclassGetAttr(Tangent(Plain(0)), "b"),
)
outputs(
    SubclassGetAttr(Plain(0), "a"), SubclassGetAttr(Plain(0), "b"), SubclassSize(Plain(0), 0),
    SubclassSize(Plain(0), 1), SubclassStride(Plain(0), 0), SubclassGetAttr(Grad(Plain(0)), "a"),
    SubclassGetAttr(Grad(Plain(0)), "b"), SubclassSize(Grad(Plain(0)), 0), SubclassSize(Grad(Plain(0)), 1),
    SubclassStride(Grad(Plain(0)), 0),
)
