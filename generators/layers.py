"""Real modules that a program's forward may call as ``self.layer``: one row each, as Python writes them.

A program that calls one holds the layer's parameters and buffers under ``layer.``, and hangs the row on its module
as a dressing. Their classes, where torch has none, are in generators/preludes/layers.py. Nothing here is drawn.
"""

from __future__ import annotations

from typing import Any

from generators.op import Op
from generators.prelude import NAMES

LAYERS: dict[str, str] = {
    "attention": "Attention(4, 2)",
    "conv_batch_norm": "ConvBatchNorm(2, 3)",
    "embedding_bag": "nn.EmbeddingBag(5, 3)",
    "group_norm": "nn.GroupNorm(2, 4)",
    "gru_cell": "nn.GRUCell(3, 4)",
    "linear": "nn.Linear(3, 4)",
    "low_rank": "LowRankLinear(3, 4)",
    "lstm_cell": "nn.LSTMCell(3, 4)",
    "mixture_of_experts": "MixtureOfExperts(4)",
    "residual_block": "ResidualBlock(2)",
    "tied_embeddings": "TiedEmbeddings(5, 3)",
    "transformer": "nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)",
    "with_constants": "WithConstants()",
    "with_object": "WithObject(3)",
}
#: Ops of the vocabulary that a layer's forward calls, where that matters to whoever asks what a program exercises.
CALLED: dict[str, tuple[str, ...]] = {"layer_conv_batch_norm": ("batch_norm",), "layer_residual_block": ("batch_norm",)}
#: How a forward calls its layer.
CALLS = (
    Op("layer", "layer", "{m}.layer({x})"),
    Op("layer_of_two", "layer", "{m}.layer({x}, {y})"),
    Op("layer_with_state", "layer", "{m}.layer({x}, ({y}, {z}))", many=True),
)
#: The dressing that hangs each layer on the module.
LINES: dict[str, str] = {f"layer_{name}": f"{{m}}.layer = filled({text}, {{m}}.layer)" for name, text in LAYERS.items()}


def make_layer(name: str) -> Any:
    """A new module of that row. Raises KeyError where there is none."""
    return eval(LAYERS[name], dict(NAMES))
