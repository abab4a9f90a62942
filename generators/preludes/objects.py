"""A custom object, and an op on it: of those that torch can be told of in Python, which 2.9 can't."""

from typing import Any

import torch

from generators.preludes.custom import DEFINED

#: Where torch is told of custom objects; None where it has no such place.
OBJECTS: Any = getattr(torch._library, "opaque_object", None)
#: What they derive from.
BASE: Any = getattr(OBJECTS, "CustomClassBase", getattr(OBJECTS, "OpaqueBase", object))


def once(cls):
    """The class, of which there is one a process: torch knows it by its name."""
    return DEFINED.setdefault(cls.__name__, cls)


@once
class Factor(BASE):
    """A custom object that holds a number."""

    def __init__(self, number):
        self.number = number


def keep_object(ctx, inputs, output):
    ctx.factor = inputs[0]


def object_ops():
    """The product of a tensor and the number of an object, defined once a process, and where torch knows of objects."""
    if OBJECTS is not None and not hasattr(torch.ops.joint_conformance, "objects"):
        if hasattr(OBJECTS, "register_custom_class"):
            OBJECTS.register_custom_class(Factor, typ="symbolic")
        else:
            OBJECTS.register_opaque_type(Factor, typ="reference")
        library = torch.library.Library("joint_conformance", "FRAGMENT")
        library.define(f"times_number({OBJECTS.get_opaque_type_name(Factor)} factor, Tensor x) -> Tensor")
        library.impl("times_number", lambda factor, x: x * factor.number, "CompositeExplicitAutograd")
        times_number = torch.ops.joint_conformance.times_number
        torch.library.register_fake("joint_conformance::times_number", lambda factor, x: torch.empty_like(x), lib=library)
        torch.library.register_autograd(
            "joint_conformance::times_number",
            lambda ctx, gradient: (None, times_number(ctx.factor, gradient)),
            setup_context=keep_object,
            lib=library,
        )
        torch.ops.joint_conformance.objects = library
    return torch.ops.joint_conformance
