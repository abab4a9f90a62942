"""Custom ops, functional ones and ones that write, and two of a library of their own."""

import torch

from generators.preludes.custom import custom_op


@custom_op("doubled")
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x * 2)


doubled.register_autograd(lambda ctx, gradient: gradient * 2)


@custom_op("squashed")
def squashed(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x)


@squashed.register_fake
def _(x):
    return torch.empty_like(torch.tanh(x))


@custom_op("scaled")
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@scaled.register_fake
def _(x, factor):
    return torch.empty_like(x * factor)


def keep_factor(ctx, inputs, output):
    ctx.factor = inputs[1]


scaled.register_autograd(lambda ctx, gradient: (gradient * ctx.factor, None), setup_context=keep_factor)


@custom_op("times")
def times(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * y


@times.register_fake
def _(x, y):
    return torch.empty_like(x * y)


def keep_operands(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def times_backward(ctx, gradient):
    x, y = ctx.saved_tensors
    return (gradient * y).sum_to_size(x.shape), (gradient * x).sum_to_size(y.shape)


times.register_autograd(times_backward, setup_context=keep_operands)


@custom_op("twice_and_thrice")
def twice_and_thrice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x * 3


@twice_and_thrice.register_fake
def _(x):
    return torch.empty_like(x * 2), torch.empty_like(x * 3)


twice_and_thrice.register_autograd(lambda ctx, twice, thrice: twice * 2 + thrice * 3)


@custom_op("joined", schema="(Tensor[] parts) -> Tensor")
def joined(parts):
    return torch.cat(parts)


@joined.register_fake
def _(parts):
    return torch.empty_like(torch.cat(parts))


def keep_lengths(ctx, inputs, output):
    ctx.lengths = [part.size(0) for part in inputs[0]]


joined.register_autograd(lambda ctx, gradient: list(gradient.split(ctx.lengths)), setup_context=keep_lengths)


@custom_op("triple_", mutates_args=("x",))
def triple_(x: torch.Tensor) -> None:
    x.mul_(3)


@custom_op("accumulate_", mutates_args=("total",))
def accumulate_(x: torch.Tensor, total: torch.Tensor) -> None:
    total.add_(x)


@custom_op("swap_", mutates_args=("x", "y"))
def swap_(x: torch.Tensor, y: torch.Tensor) -> None:
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)


@custom_op("count_", mutates_args=("x",))
def count_(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


@count_.register_fake
def _(x):
    return torch.empty_like(x)


def quietly_triple(x):
    x.detach().mul_(3)


def library_ops():
    """A view op, made of other ops, and one that writes without a word to autograd; defined once a process."""
    if not hasattr(torch.ops.joint_conformance, "library"):
        library = torch.library.Library("joint_conformance", "FRAGMENT")
        library.define("first(Tensor(a) x) -> Tensor(a)")
        library.impl("first", lambda x: x[0], "CompositeImplicitAutograd")
        library.define("quietly_triple_(Tensor(a!) x) -> ()")
        library.impl("quietly_triple_", quietly_triple, "CPU")
        library.impl("quietly_triple_", lambda x: None, "Meta")
        torch.ops.joint_conformance.library = library
    return torch.ops.joint_conformance
