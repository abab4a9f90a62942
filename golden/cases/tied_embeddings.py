"""The embedding's weight is also the head's: two FQNs, two inputs, two gradients."""
i = tensor(2, 3, dtype="int64")
self.layer = tied_embeddings

def forward(i):
    y = self.layer(i)
    return y

inputs(Param("layer.embedding.weight"), Param("layer.head.weight"), Plain(0), Tangent(Plain(0)))
outputs(Plain(0), Grad(Param("layer.embedding.weight")), Grad(Param("layer.head.weight")), None)
