"""nn.EmbeddingBag, which gives several results and returns one."""
i = tensor(2, 3, dtype="int64")
self.layer = embedding_bag

def forward(i):
    y = self.layer(i)
    return y

inputs(Param("layer.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.weight")), None)
