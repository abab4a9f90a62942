"""The check of a script that is about torch.export: the module exported, brought into a form, and called beside eager."""

from __future__ import annotations

#: Form -> the lines that make it of the export.
FORMS = {
    "exported": "",
    "strict": "",
    "decomposed": "    exported = exported.run_decompositions({})\n",
    "core": "    exported = exported.run_decompositions()\n",
    "loaded": "    file = io.BytesIO()\n    torch.export.save(exported, file)\n    file.seek(0)\n"
    "    exported = torch.export.load(file)\n",
    "unflattened": "    exported.module = lambda inner=exported: torch.export.unflatten(inner)\n",
    "exported again": "    exported = torch.export.export(exported.module(), args, kwargs, strict=False)\n",
}

EXPORT = '''
def export():
    """The module through torch.export."""
    module, args, kwargs, _ = make()
%s    exported = torch.export.export(module, args, kwargs, strict=%s%s)
%s    return exported
'''

#: What says which sizes are dynamic, given what stands for each.
DYNAMIC = "    shapes = shapes_told(%s, module, args, kwargs)\n"

#: What a call gives and how it leaves what the caller holds, beside eager; an error anywhere is a difference too.
CALL = '''
def look(call, args, kwargs, held):
    """What comes back, and what the caller's tensors are after the call."""
    torch.manual_seed(0)
    leaves = pytree.tree_leaves(call(*args, **kwargs))
%s


def main():
    module, args, kwargs, held = make()
    expected = look(module, args, kwargs, held)
    module, args, kwargs, held = make()
    held = {} if [*module.parameters(), *module.buffers()] else held  # the exported module has its own
    try:
        exported = export()
        print(exported)
        found = look(exported.module(), args, kwargs, held)
        torch.testing.assert_close(found, expected[: len(found)], equal_nan=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        raise SystemExit(1) from error
    print("OK")


if __name__ == "__main__":
    main()
'''

#: What is compared: values, or what can be differentiated and the gradients of what the module holds and of what is passed.
VALUES = "    return [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in [*leaves, *held.values()]]"
GRADIENTS = """    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    roots = [tensor for tensor in tensors if tensor.requires_grad]
    if roots:
        torch.autograd.backward(roots, list(map(torch.ones_like, roots)))
    passed = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor) and leaf.is_leaf]
    grads = [tensor.grad for _, tensor in sorted(call.named_parameters())] + [tensor.grad for tensor in passed]
    return [tensor.requires_grad for tensor in tensors] + [False if grad is None else grad for grad in grads]"""

#: What is on the graph and in the signature, for a person to look at.
SHOW = '''
def main():
    exported = export()
    exported.module()
    print(exported)
    for node in exported.graph.nodes:
        print(node.op, node.name, node.target, sorted(node.meta))
    try:
        exported.validate()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        raise SystemExit(1) from error
    print("UNDECIDED: look at the program above")
    raise SystemExit(2)


if __name__ == "__main__":
    main()
'''


def export_check(path: str, is_call: bool, dimensions: str) -> tuple[str, str]:
    """The parts of the check: the export in the form that the path begins with, and what is done with it.

    A call is compared with eager's, in its gradients where the path speaks of them. ``dimensions`` is what stands for each
    symbolic size, "" where there is none.
    """
    form, _, place = path.partition(":")
    compared = CALL % (GRADIENTS if place.startswith(("grads", "differentiable", "backward")) else VALUES)
    told, shapes = (DYNAMIC % dimensions, ", dynamic_shapes=shapes") if dimensions else ("", "")
    return EXPORT % (told, form == "strict", shapes, FORMS[form]), compared if is_call else SHOW
