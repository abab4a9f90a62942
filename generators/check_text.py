'''The fixed part of a printed script: how it exports, watches both sides, and compares.

Plain text in pieces, so that a script carries only what its scenario needs. The scenarios are those of
conformance/scenarios.py, written again as a person would for one program.
'''

from __future__ import annotations

#: What a scenario makes its inputs with; all others take the values that the program is exported with.
INPUTS = {"again": "1", "twice": "2"}

EXPORT = '''
def export():
    """The module through the joint export and back."""
    module, args, kwargs, _ = make()%(symbolic)s
    with ExitStack() as stack:%(config)s
        joint = aot_export_joint_with_descriptors(stack, module, args, kwargs%(export)s)
        compiled = aot_compile_joint_with_descriptors(joint%(compile)s)
    fqns = [*joint.params_spec, *joint.buffers_spec]
    return lambda module, args, kwargs: compiled(*(attrgetter(fqn)(module) for fqn in fqns), *args, **kwargs)
'''

IS_LEAF = '''
def is_leaf(t):
    try:
        return t.is_leaf
    except RuntimeError:  # autograd won't say for a view gone stale under no_grad
        return None
'''

LOOK = '''
def look(facts, sight, others={}):
    """What can be read off each value in sight, and which others it is, shares storage with, is a view of."""
    facts.update({name: value for name, value in sight.items() if not isinstance(value, torch.Tensor)})
    tensors = {name: t for name, t in {**others, **sight}.items() if isinstance(t, torch.Tensor)}
    for name, t in tensors.items():
        storage = t.untyped_storage()._cdata
        facts[f"{name}.is"] = [n for n, other in tensors.items() if other is t]
        facts[f"{name}.shares"] = [n for n, other in tensors.items() if other.untyped_storage()._cdata == storage]
        if is_leaf(t) is False:
            facts[f"{name}.base"] = [n for n, other in tensors.items() if other is t._base]
        if name in sight:
            facts[f"{name}.shape"] = tuple(t.shape)
            facts[f"{name}.kind"] = type(t).__name__, t.dtype, t.device.type, t.layout, t.is_conj(), t.is_neg()
            facts[f"{name}.stride"] = [s for n, s in zip(t.shape, t.stride()) if n != 1 and t.numel()]
            facts[f"{name}.requires_grad"] = t.requires_grad
            facts[f"{name}.is_leaf"] = is_leaf(t)
            facts[f"{name}.value"] = t.detach().clone()
'''

BACKWARD = '''
def roots_of(leaves):
    """What a backward can start from; a view taken under no_grad has no edge, whatever it says."""
    tensors = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
    return [t for t in tensors if is_leaf(t) is False or not t._is_view()]


def backward(roots, seed=0, **options):
    torch.manual_seed(1000 + seed)
    if roots:
        cotangents = [torch.randn(root.shape, dtype=root.dtype).to(root.device) for root in roots]
        torch.autograd.backward(roots, cotangents, **options)
'''

GRADIENTS = '''
def gradients(facts, sight):
    for name, t in sight.items():
        if isinstance(t, torch.Tensor) and t.requires_grad and (is_leaf(t) or (is_leaf(t) is False and t.retains_grad)):
            look(facts, {f"{name}.grad": t.grad})
'''

INSIDE = '''
def pieces(t, path=""):
    """The plain tensors, and what else, that a tensor consists of, by the path of attributes to them."""
    if not is_traceable_wrapper_subclass(t):
        return {path: t}
    inner = {f"{path}.{name}": getattr(t, name) for name in t.__tensor_flatten__()[0]}
    return {place: piece for name, value in inner.items() for place, piece in pieces(value, name).items()}


def contents(t):
    """What can be compared of each piece."""
    return {path: p.detach().clone() if isinstance(p, torch.Tensor) else type(p).__name__ for path, p in pieces(t).items()}


def told(numbers):
    """Sizes or strides; a ragged one has another name in each tensor."""
    return ["ragged" if isinstance(number, torch.SymInt) else number for number in numbers]


def storages(t):
    return {piece.untyped_storage()._cdata for piece in pieces(t).values() if isinstance(piece, torch.Tensor)}


def cotangent(t):
    """Random numbers in the place of every piece."""
    if is_traceable_wrapper_subclass(t):
        names, notes = t.__tensor_flatten__()
        inner = {name: getattr(t, name) for name in names}
        inner.update({name: cotangent(piece) for name, piece in inner.items() if isinstance(piece, torch.Tensor)})
        stride = t.stride() if t.is_nested else torch.empty(t.shape, device="meta").stride()
        return type(t).__tensor_unflatten__(inner, notes, t.size(), stride)
    return torch.randn(t.shape, dtype=t.dtype).to(t.device) if t.is_floating_point() or t.is_complex() else t
'''

#: What the texts of this file say of a plain tensor, and what they say where there are subclasses: see INSIDE.
LOOKED_INSIDE = (
    ("t.detach().clone()", "contents(t)"),
    ("tuple(t.shape)", "told(t.shape)"),
    ("zip(t.shape, t.stride())", "zip(t.shape, told(t.stride()))"),
    ("storage = t.untyped_storage()._cdata", "own = storages(t)"),
    ("other.untyped_storage()._cdata == storage", "own & storages(other)"),
    ("torch.randn(root.shape, dtype=root.dtype).to(root.device)", "cotangent(root.detach())"),
    (
        "def same(e, c):\n",
        "def same(e, c):\n    if isinstance(e, dict) and isinstance(c, dict):\n"
        "        return e.keys() == c.keys() and all(same(e[key], c[key]) for key in e)\n",
    ),
)

#: The helpers that a watch may call, each with the call by which it is known to be needed.
HELPERS = (
    (r"\b(look|gradients)\(", IS_LEAF),
    (r"\b(look|gradients)\(", LOOK),
    (r"\b(backward|roots_of)\(", BACKWARD),
    (r"\bgradients\(", GRADIENTS),
)

#: Where the part of a watch begins that is left out when the violation shows without it.
BACKWARD_PART = "    # backward\n"

_TRAIN = '''
def watch(call, held, facts):
    """One call: everything that it gives, writes and aliases."""
    before = {name: t._version for name, t in held.items()}
    leaves, facts["structure"] = pytree.tree_flatten(call())
    outputs = {f"outputs[{i}]": leaf for i, leaf in enumerate(leaves)}
    look(facts, {**held, **outputs})
    for name, t in held.items():
        facts[f"{name}.written"] = t._version != before[name]
        facts[f"{name}.offset"] = t.storage_offset() if t.numel() else None
    facts["rng"] = torch.get_rng_state()
    # backward
    written = [t for name, t in held.items() if t._version != before[name] and is_leaf(t) is False]
    backward(roots_of([*leaves, *written]))
    facts["rng after backward"] = torch.get_rng_state()
    gradients(facts, {**held, **outputs})
'''

_RETAINED = '''
def watch(call, held, facts):
    """Backward twice through a retained graph."""
    roots = roots_of(pytree.tree_leaves(call()))
    backward(roots, retain_graph=True)
    backward(roots, seed=1)
    gradients(facts, held)
'''

_AGAIN = '''
def watch(call, held, facts):
    """Other values than those exported with, gradients accumulated into those that are there."""
    for index, t in enumerate(held.values()):
        if is_leaf(t) and t.requires_grad:
            t.grad = torch.full_like(t, 0.5 + index)
    leaves, facts["structure"] = pytree.tree_flatten(call())
    look(facts, {f"outputs[{i}]": leaf for i, leaf in enumerate(leaves)}, held)
    # backward
    backward(roots_of(leaves))
    gradients(facts, held)
'''

_ALONE = '''
def watch(call, held, facts):
    """Backward from one of several outputs alone."""
    roots = roots_of(pytree.tree_leaves(call()))
    backward(roots[%d:%d])
    gradients(facts, held)
'''

_ONE_BY_ONE = '''
def watch(call, held, facts):
    """A backward from each root in turn."""
    for index, root in enumerate(roots_of(pytree.tree_leaves(call()))):
        backward([root], seed=index)
    gradients(facts, held)
'''

_TWICE = '''
def watch(call, held, facts):
    """Two calls on one state, and what the second gives."""
    first = pytree.tree_leaves(call())
    second, facts["structure"] = pytree.tree_flatten(call())
    look(facts, {f"second[{i}]": leaf for i, leaf in enumerate(second)}, held)
    facts.update({f"first[{i}]": t.detach().clone() for i, t in enumerate(first) if isinstance(t, torch.Tensor)})
    # backward
    backward(roots_of([*first, *second]))
    gradients(facts, held)
'''

_TANGENTS = '''
def watch(call, held, facts):
    """Backward under cotangents of another class than that of the outputs."""
    roots = [root for root in roots_of(pytree.tree_leaves(call())) if is_traceable_wrapper_subclass(root) is %s]
    torch.autograd.backward(roots, [%s for root in roots])
    gradients(facts, held)
'''

_ONES = "torch.ones(root.shape, dtype=root.dtype, device=root.device)"

_NO_GRAD = '''
def watch(call, held, facts):
    """A call under no_grad."""
    with torch.no_grad():
        leaves, facts["structure"] = pytree.tree_flatten(call())
    look(facts, {f"outputs[{i}]": leaf for i, leaf in enumerate(leaves)}, held)
'''

_NON_LEAF = '''
def watch(call, held, facts):
    """A call with inputs that require grad as before, but are no leaves."""
    leaves, facts["structure"] = pytree.tree_flatten(call())
    look(facts, {f"outputs[{i}]": leaf for i, leaf in enumerate(leaves)}, held)
'''

_WRITTEN = '''
def watch(call, held, facts):
    """Each output written in place after the call: who sees it."""
    leaves, facts["structure"] = pytree.tree_flatten(call())
    outputs = {f"outputs[{i}]": leaf for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)}
    for name, t in outputs.items():
        facts[f"{name}.write"] = "refused"
        with suppress(RuntimeError), torch.set_grad_enabled(%s):
            t.logical_not_() if t.dtype == torch.bool else t.add_(1)
            facts[f"{name}.write"] = "written"
    for name, t in {**held, **outputs}.items():
        facts[f"{name}.after"] = t.detach().clone()
'''

_OVERWRITTEN = '''
def watch(call, held, facts):
    """Everything that the caller may write is written between forward and backward."""
    before = {name: t._version for name, t in held.items()}
    leaves = pytree.tree_leaves(call())
    written = [t for name, t in held.items() if t._version != before[name] and is_leaf(t) is False]
    roots = roots_of([*leaves, *written])
    plain = [t for t in held.values() if is_leaf(t) and not t.requires_grad]
    with torch.no_grad():
        for t in {id(t): t for t in [*leaves, *plain] if isinstance(t, torch.Tensor)}.values():
            with suppress(RuntimeError):
                t.logical_not_() if t.dtype == torch.bool else t.add_(1)
    backward(roots)
    gradients(facts, held)
'''

#: Scenario -> how it watches a call.
WATCHES: dict[str, str] = {
    "train": _TRAIN,
    "again": _AGAIN,
    "alone0": _ALONE % (0, 1),
    "alone1": _ALONE % (1, 2),
    "one_by_one": _ONE_BY_ONE,
    "retained": _RETAINED,
    "twice": _TWICE,
    "plain_tangents": _TANGENTS % (True, _ONES),
    "subclass_tangents": _TANGENTS % (False, f"TwoTensor({_ONES}, {_ONES} * 2)"),
    "no_grad": _NO_GRAD,
    "non_leaf": _NON_LEAF,
    "written": _WRITTEN % True,
    "written_no_grad": _WRITTEN % False,
    "larger": _TRAIN,
    "smaller": _TRAIN,
    "overwritten": _OVERWRITTEN,
}

COMPARE = '''
def observe(name, prepare):
    """The facts of one run on fresh inputs; that it raises is one."""
    facts = {"raises": False}
    try:
        module, args, kwargs, held = make(%(inputs)s)
        call = prepare()
        watch(lambda: call(module, args, kwargs), held, facts)
    except Exception as error:
        print(f"{name} raises {type(error).__name__}: {error}".strip().splitlines()[0])
        facts["raises"] = %(raised)s
    return facts


def same(e, c):
    if not (isinstance(e, torch.Tensor) and isinstance(c, torch.Tensor) and e.shape == c.shape and e.dtype == c.dtype):
        return repr(e) == repr(c)
    tolerance = torch.finfo(e.dtype).eps ** 0.5 if e.is_floating_point() or e.is_complex() else 0
    return torch.allclose(e, c, tolerance, tolerance, equal_nan=True)
'''

#: What the texts of this file say of a call without effects, and what they say where there may be some.
WITH_EFFECTS = (
    (
        "        watch(lambda: call(module, args, kwargs), held, facts)\n",
        "        with Listening():\n            watch(lambda: call(module, args, kwargs), held, facts)\n"
        '        facts["effects"] = list(EFFECTS)\n',
    ),
)

MAIN = '''
if __name__ == "__main__":
    try:
        from torch._functorch.aot_autograd import aot_compile_joint_with_descriptors, aot_export_joint_with_descriptors

        make()
    except Exception as error:
        print(f"ERROR: {type(error).__name__}: {error}")
        sys.exit(2)
    e = observe("eager", lambda: lambda module, args, kwargs: module(*args, **kwargs))
    c = observe("compiled", export)
    paths = ["raises"] if e["raises"] or c["raises"] else list({**e, **c})
    wrong = [path for path in paths if not same(e.get(path), c.get(path))]
    for path in wrong:
        print(f"{path}: eager {e.get(path)}, compiled {c.get(path)}".replace("\\n", ""))
    print("DIFFERENT" if wrong else "OK")
    sys.exit(bool(wrong))
'''

GRAPH = '''
def graph_check():
    """Print the joint graph's descriptors one a line, and say whether what is wrong is still so."""
    module, args, kwargs, _ = make()%(symbolic)s
    with ExitStack() as stack:%(config)s
        graph = aot_export_joint_with_descriptors(stack, module, args, kwargs%(export)s).graph_module.graph
    output = graph.output_node()
    lines = [f"input {node}: {node.meta.get('desc')}" for node in graph.find_nodes(op="placeholder")]
    lines += [f"output {node}: {desc}" for node, desc in zip(output.args[0], output.meta.get("desc") or ())]
    print(*lines, sep="\\n")
    return %(wrong)s


if __name__ == "__main__":
    try:
        from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

        wrong = graph_check()
    except Exception as error:
        print(f"ERROR: {type(error).__name__}: {error}")
        sys.exit(2)
    if wrong is None:
        print("UNDECIDED: no text to look for; compare these lines with the docstring")
        sys.exit(2)
    print("DIFFERENT" if wrong else "OK")
    sys.exit(wrong)
'''
