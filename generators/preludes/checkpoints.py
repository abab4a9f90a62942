"""What is checkpointed: run in the forward, and again in the backward."""

import torch
import torch.nn.functional as F

checkpoint = torch.utils.checkpoint.checkpoint


def sine_twice(x):
    return x.sin().sin()


def sine_dropped(x):
    return F.dropout(x.sin(), 0.5).sin()


def sine_tripled(x):
    result = x.sin()
    result.mul_(3)
    return result.sin()
