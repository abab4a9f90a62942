"""Tensor subclasses: wrappers around inner tensors that PyTorch can trace through, and the ways into and out of them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,attr-defined,override"
from __future__ import annotations

import torch
import torch.utils._pytree as pytree


class Wrapper(torch.Tensor):
    """A tensor made of inner tensors, which looks like the first of them; every op runs on each of them in turn.

    ``PIECES`` names the inner tensors, ``NOTES`` the plain values carried beside them, which every op keeps.
    """

    PIECES: tuple[str, ...] = ()
    NOTES: tuple[str, ...] = ()

    @staticmethod
    def __new__(cls, *parts, size=None, stride=None):
        """A wrapper around its pieces, then its notes."""
        first = parts[0]
        if any(piece.shape != first.shape for piece in parts[: len(cls.PIECES)]):
            raise ValueError("the pieces are of several shapes")
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            first.shape if size is None else size,
            strides=first.stride() if stride is None else stride,
            storage_offset=first.storage_offset(),
            dtype=first.dtype,
            device=first.device,
        )
        for name, part in zip((*cls.PIECES, *cls.NOTES), parts):
            setattr(made, name, part)
        return made

    def __init__(self, *parts, size=None, stride=None) -> None:
        pass

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in (*self.PIECES, *self.NOTES))})"

    def __tensor_flatten__(self):
        return list(self.PIECES), tuple(getattr(self, name) for name in self.NOTES)

    @classmethod
    def __tensor_unflatten__(cls, pieces, notes, size, stride):
        return cls(*(pieces[name] for name in cls.PIECES), *notes, size=size, stride=stride)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if any(issubclass(other, Wrapper) and other is not cls for other in types):
            return NotImplemented
        given = (args, kwargs or {})
        first = next(leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, cls))
        results = []
        for name in cls.PIECES:
            its_args, its_kwargs = pytree.tree_map_only(cls, lambda wrapper: getattr(wrapper, name), given)  # noqa: B023
            if its_kwargs.get("dtype") == first.dtype:  # which to a piece of another dtype means its own
                its_kwargs["dtype"] = getattr(first, name).dtype
            results.append(func(*its_args, **its_kwargs))
        out = cls.around(results, first.__tensor_flatten__()[1])
        return torch.utils._python_dispatch.return_and_correct_aliasing(func, *given, out)

    @classmethod
    def around(cls, results, notes):
        """The results for each piece as one result; what is no tensor is the same for all of them."""
        structure = pytree.tree_structure(results[0])
        leaves = zip(*map(pytree.tree_leaves, results))
        return pytree.tree_unflatten(
            [cls(*each, *notes) if isinstance(each[0], torch.Tensor) else each[0] for each in leaves], structure
        )


class Pair(Wrapper):
    """Two inner tensors."""

    PIECES = ("a", "b")


class Scaled(Wrapper):
    """One inner tensor and a number beside it."""

    PIECES = ("inner",)
    NOTES = ("factor",)


class Coded(Wrapper):
    """One inner tensor, of which every op but views, writes and clones makes a plain one: so are its gradients."""

    PIECES = ("code",)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        aliases = any(returned.alias_info is not None for returned in func._schema.returns)
        if aliases or func is torch.ops.aten.clone.default:
            return super().__torch_dispatch__(func, types, args, kwargs)
        args, kwargs = pytree.tree_map_only(cls, lambda wrapper: wrapper.code, (args, kwargs or {}))
        return func(*args, **kwargs)


def pair(x):
    """A Pair of equals in everything but their values."""
    return Pair(x, x * 2)


def mixed(x):
    """A Pair of different dtypes, or of two tensors of that dtype where ``x`` has the second one already."""
    return Pair(x, x.to(torch.bfloat16 if x.is_floating_point() else torch.int64, copy=True))


def tilted(x):
    """A Pair of which the second is laid out the other way round."""
    backwards = tuple(reversed(range(x.dim())))
    return Pair(x, x.permute(backwards).clone(memory_format=torch.contiguous_format).permute(backwards))


def nested(x):
    """A Pair of Pairs."""
    return Pair(pair(x), pair(x * 3))


def two_tensor(x):
    """PyTorch's own pair."""
    from torch.testing._internal.two_tensor import TwoTensor

    return TwoTensor(x, x * 2)


def jagged(x):
    """A nested tensor of the first row of ``x`` and of all its others."""
    offsets = torch.tensor([0, 1, len(x)], device=x.device)
    return torch.nested.nested_tensor_from_jagged(x, offsets, min_seqlen=1, max_seqlen=len(x))


#: The one mesh of a process, once it is made.
MESHES: list[object] = []


def mesh():
    """A mesh of two devices, of which this process plays the first and nobody the second."""
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not MESHES:
        with torch.utils._python_dispatch._disable_current_modes():  # a mesh can't be made of fake tensors
            if not torch.distributed.is_initialized():
                torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
            MESHES.append(DeviceMesh("cpu", [0, 1]))
    return MESHES[0]


def dtensor(x):
    """A DTensor of which this process holds ``x``: a shard, or all of a number."""
    from torch.distributed.tensor import DTensor, Replicate, Shard

    if isinstance(x, Wrapper) or not x.numel():  # a view of an empty one never returns from torch's sharding rules
        raise TypeError("a DTensor is made of a plain tensor with elements")
    return DTensor.from_local(x, mesh(), [Shard(0) if x.dim() else Replicate()], run_check=False)


class ToPair(torch.autograd.Function):
    """A Pair of a tensor and its double, and its gradient back."""

    @staticmethod
    def forward(ctx, x):
        return Pair(x.clone(), x * 2)

    @staticmethod
    def backward(ctx, grad):
        return grad.a + grad.b * 2 if isinstance(grad, Pair) else grad * 3


class ToPairOf(torch.autograd.Function):
    """A Pair whose first piece is a view of the tensor, as DTensor.from_local makes one."""

    @staticmethod
    def forward(ctx, x):
        return Pair(x.view_as(x), x * 2)

    @staticmethod
    def backward(ctx, grad):
        return grad.a + grad.b * 2 if isinstance(grad, Pair) else grad * 3


class First(torch.autograd.Function):
    """A copy of a Pair's first piece; the gradient of the second is zero."""

    @staticmethod
    def forward(ctx, x):
        return x.a.clone()

    @staticmethod
    def backward(ctx, grad):
        return Pair(grad, torch.zeros_like(grad))


class ToScaled(torch.autograd.Function):
    """A tensor with a factor beside it, and its gradient back."""

    @staticmethod
    def forward(ctx, x, factor):
        return Scaled(x.clone(), factor)

    @staticmethod
    def backward(ctx, grad):
        return (grad.inner * grad.factor if isinstance(grad, Scaled) else grad), None
