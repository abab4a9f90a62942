"""A subclass of subclasses is taken apart all the way down."""
x = nested(2, 3, requires_grad=True)

def forward(x):
    y = torch.sin(x)
    return y

inputs(
    SubclassGetAttr(SubclassGetAttr(Plain(0), "a"), "a"), SubclassGetAttr(SubclassGetAttr(Plain(0), "a"), "b"),
    SubclassGetAttr(SubclassGetAttr(Plain(0), "b"), "a"), SubclassGetAttr(SubclassGetAttr(Plain(0), "b"), "b"),
    SubclassGetAttr(SubclassGetAttr(Tangent(Plain(0)), "a"), "a"),
    SubclassGetAttr(SubclassGetAttr(Tangent(Plain(0)), "a"), "b"),
    SubclassGetAttr(SubclassGetAttr(Tangent(Plain(0)), "b"), "a"),
    SubclassGetAttr(SubclassGetAttr(Tangent(Plain(0)), "b"), "b"),
)
outputs(
    SubclassGetAttr(SubclassGetAttr(Plain(0), "a"), "a"), SubclassGetAttr(SubclassGetAttr(Plain(0), "a"), "b"),
    SubclassGetAttr(SubclassGetAttr(Plain(0), "b"), "a"), SubclassGetAttr(SubclassGetAttr(Plain(0), "b"), "b"),
    SubclassGetAttr(SubclassGetAttr(Grad(Plain(0)), "a"), "a"),
    SubclassGetAttr(SubclassGetAttr(Grad(Plain(0)), "a"), "b"),
    SubclassGetAttr(SubclassGetAttr(Grad(Plain(0)), "b"), "a"),
    SubclassGetAttr(SubclassGetAttr(Grad(Plain(0)), "b"), "b"),
)
