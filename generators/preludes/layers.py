"""Modules that people build models of, small, and what puts a program's parameters into one."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from generators.preludes.objects import Factor, object_ops


def filled(layer: Any, holder: Any) -> Any:
    """The layer with the parameters and buffers that ``holder`` has under the same names: the very same tensors."""
    layer.load_state_dict(holder.state_dict(keep_vars=True), assign=True)
    return layer


class ConvBatchNorm(nn.Module):
    """A convolution and its BatchNorm."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.norm(self.conv(x))


class ResidualBlock(nn.Module):
    """Two convolutions with BatchNorm, and a shortcut around them."""

    def __init__(self, channels):
        super().__init__()
        self.first = ConvBatchNorm(channels, channels)
        self.second = ConvBatchNorm(channels, channels)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Attention(nn.Module):
    """Causal self-attention in several heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind()
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class MixtureOfExperts(nn.Module):
    """Two experts, each weighted for every token by a router; one of the weights is the larger and alone counts."""

    def __init__(self, width):
        super().__init__()
        self.router = nn.Linear(width, 2, bias=False)
        self.one = nn.Linear(width, width)
        self.other = nn.Linear(width, width)

    def forward(self, x):
        weights, chosen = torch.softmax(self.router(x), -1).topk(1, -1)
        experts = torch.stack([self.one(x), self.other(x)], -2)
        picked = experts.gather(-2, chosen.unsqueeze(-1).expand(*chosen.shape, x.shape[-1])).squeeze(-2)
        return picked * weights


class TiedEmbeddings(nn.Module):
    """An embedding whose weight is also that of the layer that gives the scores back."""

    def __init__(self, tokens, width):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.head = nn.Linear(width, tokens, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(torch.tanh(self.embedding(tokens)))


class LowRankLinear(nn.Module):
    """A frozen linear layer with a trained correction of low rank."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.frozen = nn.Linear(inputs, outputs).requires_grad_(False)
        self.down = nn.Linear(inputs, 2, bias=False)
        self.up = nn.Linear(2, outputs, bias=False)

    def forward(self, x):
        return self.frozen(x) + self.up(self.down(x))


class WithConstants(nn.Module):
    """Adds a tensor that it holds, one that a module in it holds, and one that its forward makes of numbers."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.offset = torch.tensor([1.0, 2.0])
        self.inner = nn.Module()
        self.inner.offset = torch.tensor([3.0, 4.0])

    def forward(self, x):
        return x * self.weight + self.offset + self.inner.offset * torch.tensor([5.0, 7.0])


class WithObject(nn.Module):
    """Multiplies by its weight, and by the number of a custom object that a module in it holds."""

    def __init__(self, number):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.inner = nn.Module()
        self.inner.factor = Factor(number)
        object_ops()

    def forward(self, x):
        return torch.ops.joint_conformance.times_number(self.inner.factor, x * self.weight)
