"""The ops that a program may call: one row each, and nothing outside this table is ever called.

A row of a plain tensor op stands here, one of any other kind under generators/rows/, by topic. To add an op,
add a row (generators/op.py says what one is); the simplest of a kind come first, since Hypothesis and the
reducer go toward the front.
"""

from __future__ import annotations

from generators import arguments as a
from generators import layers
from generators.op import DTYPES, Op, runtime, written
from generators.rows import control, functions, hooks, operators, randomness, sizes, subclasses

__all__ = ["DTYPES", "KINDS", "OPS", "VOCABULARY", "Op", "runtime", "written"]


def _pointwise() -> list[Op]:
    calls = ["sin", "exp", "tanh", "sigmoid", "neg", "abs", "square", "relu", "sgn", "round", "log1p", "rsqrt", "cos", "sqrt"]
    named = [Op(name, "pointwise", f"torch.{name}({{x}})") for name in calls]
    return named + [
        Op("scale", "pointwise", "{x} * {p}", (a.among(2, 0.5, -1, 0, 3.0),)),
        Op("shift", "pointwise", "{x} + {p}", (a.among(1, 0.5, 0),)),
        Op("power", "pointwise", "{x} ** {p}", (a.among(2, 3, 1, 0.5),)),
        Op("clone", "pointwise", "{x}.clone()"),
        Op("to", "pointwise", "{x}.to({p})", (a.among("float32", "float64", "bfloat16", "int64", "bool", "complex64"),)),
        Op("clamp", "pointwise", "{x}.clamp({p})", (a.among(0, 0.25, -1),)),
        Op("gelu", "pointwise", "F.gelu({x})"),
        Op("softplus", "pointwise", "F.softplus({x})"),
        Op("zeros_like", "pointwise", "torch.zeros_like({x})"),
        Op("full", "pointwise", "torch.full_like({x}, {p})", (a.among(9.0, 1, 0),)),
        Op("contiguous", "pointwise", "{x}.contiguous()"),
        Op("tril", "pointwise", "torch.tril({x})"),
        Op("cumsum", "pointwise", "torch.cumsum({x}, {p})", (a.dim,)),
        Op("flip", "pointwise", "torch.flip({x}, ({p},))", (a.dim,)),
        Op("roll", "pointwise", "torch.roll({x}, {p}, {q})", (a.among(1, -1), a.dim)),
    ]


def _binary() -> list[Op]:
    signs = {"mul": "*", "add": "+", "sub": "-", "div": "/"}
    named = [Op(name, "binary", f"{{x}} {sign} {{y}}") for name, sign in signs.items()]
    calls = ["maximum", "minimum", "atan2", "copysign"]
    return named + [Op(name, "binary", f"torch.{name}({{x}}, {{y}})") for name in calls] + [
        Op("eq", "binary", "{x} == {y}"),
        Op("gt", "binary", "{x} > {y}"),
        Op("where", "binary", "torch.where({x} > 0, {x}, {y})"),
        Op("lerp", "binary", "torch.lerp({x}, {y}, {p})", (a.among(0.5, 0.25),)),
        Op("addcmul", "binary", "torch.addcmul({x}, {y}, {z})"),
        Op("cat", "binary", "torch.cat([{x}, {y}], {p})", (a.dim,)),
        Op("stack", "binary", "torch.stack([{x}, {y}], {p})", (a.dim,)),
        Op("outer_sum", "binary", "{x}.unsqueeze(-1) + {y}.unsqueeze(0)"),
    ]


REDUCTIONS = [
    Op("sum", "reduction", "{x}.sum()"),
    Op("mean", "reduction", "{x}.mean()"),
    Op("sum_dim", "reduction", "{x}.sum({p})", (a.dim,)),
    Op("mean_keepdim", "reduction", "{x}.mean({p}, keepdim=True)", (a.dim,)),
    Op("amax", "reduction", "{x}.amax({p})", (a.dim,)),
    Op("prod", "reduction", "{x}.prod()"),
    Op("logsumexp", "reduction", "torch.logsumexp({x}, {p})", (a.dim,)),
    Op("argmax", "reduction", "{x}.argmax({p})", (a.dim,)),
    Op("norm", "reduction", "torch.linalg.vector_norm({x})"),
    Op("std", "reduction", "{x}.std({p})", (a.dim,)),
    Op("any", "reduction", "{x}.any()"),
    Op("softmax", "reduction", "torch.softmax({x}, {p})", (a.dim,)),
]

MATRIX = [
    Op("matmul", "matrix", "{x} @ {y}"),
    Op("matmul_t", "matrix", "{x} @ {y}.mT"),
    Op("linear", "matrix", "F.linear({x}, {y})"),
    Op("linear_bias", "matrix", "F.linear({x}, {y}, {z})"),
    Op("addmm", "matrix", "torch.addmm({x}, {y}, {z})"),
    Op("conv1d", "matrix", "F.conv1d({x}, {y}, padding={p})", (a.among(1, 0),)),
    Op("conv2d", "matrix", "F.conv2d({x}, {y}, padding={p})", (a.among(1, 0),)),
    Op("outer", "matrix", "torch.outer({x}.flatten(), {y}.flatten())"),
    Op("einsum", "matrix", "torch.einsum('i...,j...->ij', {x}, {y})"),
    Op("pinv", "matrix", "torch.linalg.pinv({x})"),
]

#: The one that asks the most of its operands is tried first.
NORMS = [
    Op("batch_norm", "norm", "F.batch_norm({x}, {y}, {z}, training={p})", (a.among(True, False),)),
    Op("layer_norm", "norm", "F.layer_norm({x}, {p})", (a.columns,)),
    Op("group_norm", "norm", "F.group_norm({x}, {p})", (a.among(1, 2),)),
    Op("rms_norm", "norm", "F.rms_norm({x}, {p})", (a.columns,)),
    Op("normalize", "norm", "F.normalize({x}, dim={p})", (a.dim,)),
]

INDEXING = [
    Op("index_list", "indexing", "{x}[[{p}, 0]]", (a.index,)),
    Op("index_select", "indexing", "torch.index_select({x}, {p}, {y})", (a.dim,)),
    Op("index", "indexing", "{x}[{y}]"),
    Op("gather", "indexing", "torch.gather({x}, {p}, {y})", (a.dim,)),
    Op("masked_fill", "indexing", "{x}.masked_fill({y} > 0, {p})", (a.among(0, 1),)),
    Op("take", "indexing", "torch.take({x}, {y})"),
    Op("embedding", "indexing", "F.embedding({y}, {x})"),
    Op("select_scatter", "indexing", "torch.select_scatter({x}, {y}, {p}, {q})", (a.dim, a.index)),
]

#: Several results at once. The first block are views of the operand, the second are not.
MULTI = [
    Op("unbind", "multi_view", "{x}.unbind({p})", (a.split_dim,), many=True),
    Op("chunk", "multi_view", "{x}.chunk(2, {p})", (a.split_dim,), many=True),
    Op("split", "multi_view", "{x}.split({p}, {q})", (a.among(1, 2), a.split_dim), many=True),
    Op("tensor_split", "multi_view", "{x}.tensor_split(2, {p})", (a.split_dim,), many=True),
    Op("max_dim", "multi", "{x}.max({p})", (a.dim,), many=True),
    Op("topk", "multi", "{x}.topk(1, {p})", (a.dim,), many=True),
    Op("sort", "multi", "{x}.sort({p})", (a.dim,), many=True),
    Op("var_mean", "multi", "torch.var_mean({x}, {p})", (a.dim,), many=True),
    Op("aminmax", "multi", "torch.aminmax({x}, dim={p})", (a.dim,), many=True),
    Op("frexp", "multi", "torch.frexp({x})", many=True),
]

VIEWS = [
    Op("view", "view", "{x}.view({p})", (a.shape,)),
    Op("select", "view", "{x}.select({p}, {q})", (a.dim, a.index)),
    Op("row", "view", "{x}[{p}]", (a.index,)),
    Op("slice", "view", "{x}[{p}:{q}]", (a.index, a.end)),
    Op("transpose", "view", "{x}.transpose(0, {p})", (a.dim,)),
    Op("t", "view", "{x}.t()"),
    Op("mT", "view", "{x}.mT"),
    Op("permute", "view", "{x}.permute({p})", (a.permutation,)),
    Op("reshape", "view", "{x}.reshape({p})", (a.shape,)),
    Op("flatten", "view", "{x}.flatten()"),
    Op("unsqueeze", "view", "{x}.unsqueeze({p})", (a.dim,)),
    Op("squeeze", "view", "{x}.squeeze()"),
    Op("squeeze_dim", "view", "{x}.squeeze({p})", (a.dim,)),
    Op("expand", "view", "{x}.expand({p})", (a.expanded,)),
    Op("narrow", "view", "{x}.narrow({p}, {q}, 1)", (a.dim, a.index)),
    Op("step_slice", "view", "{x}[::2]"),
    Op("ellipsis_slice", "view", "{x}[..., {p}:]", (a.among(1, 0),)),
    Op("detach", "view", "{x}.detach()"),
    Op("alias", "view", "torch.ops.aten.alias({x})"),
    Op("view_as", "view", "{x}.view_as({x})"),
    Op("diagonal", "view", "{x}.diagonal()"),
    Op("unfold", "view", "{x}.unfold({p}, {q}, 1)", (a.dim, a.width)),
    Op("movedim", "view", "{x}.movedim(0, -1)"),
    Op("as_strided", "view", "{x}.as_strided({p}, {q})", (a.strided_size, a.strided_stride)),
    Op("real", "view", "{x}.real"),
    Op("imag", "view", "{x}.imag"),
    Op("view_as_real", "view", "torch.view_as_real({x})"),
    Op("view_as_complex", "view", "torch.view_as_complex({x})"),
    Op("conj", "view", "{x}.conj()"),
    Op("view_dtype", "view", "{x}.view({p})", (a.among("int32", "float32", "int64", "bfloat16"),)),
    Op("broadcast_to", "view", "torch.broadcast_to({x}, {p})", (a.expanded,)),
    Op("data", "view", "{x}.data"),
    Op("unflatten", "view", "{x}.unflatten({p}, (-1, 1))", (a.dim,)),
    Op("swapaxes", "view", "torch.swapaxes({x}, 0, -1)"),
    Op("hsplit_first", "view", "torch.hsplit({x}, 1)[0]"),
]

MUTATIONS = [
    Op("mul_", "mutation", "{x}.mul_({p})", (a.among(2, 3, 0.5),)),
    Op("add_", "mutation", "{x}.add_({p})", (a.among(1, 2),)),
    Op("zero_", "mutation", "{x}.zero_()"),
    Op("copy_", "mutation", "{x}.copy_({y})"),
    Op("add_tensor_", "mutation", "{x}.add_({y})"),
    Op("mul_tensor_", "mutation", "{x}.mul_({y})"),
    Op("set_row", "mutation", "{x}[{p}] = {q}", (a.index, a.among(1, 0))),
    Op("set_slice", "mutation", "{x}[{p}:] = {y}", (a.among(1, 0),)),
    Op("mul_row", "mutation", "{x}[{p}].mul_(2)", (a.index,)),
    Op("augment", "mutation", "{x}[{p}] += {y}", (a.index,)),
    Op("fill_", "mutation", "{x}.fill_({p})", (a.among(1, 7),)),
    Op("sin_", "mutation", "{x}.sin_()"),
    Op("relu_", "mutation", "{x}.relu_()"),
    Op("sigmoid_", "mutation", "{x}.sigmoid_()"),
    Op("masked_fill_", "mutation", "{x}.masked_fill_({x} > 0, {p})", (a.among(0, 1),)),
    Op("index_fill_", "mutation", "{x}.index_fill_({p}, {y}, 1)", (a.dim,)),
    Op("index_put_", "mutation", "{x}.index_put_(({y},), {z})"),
    Op("clamp_", "mutation", "{x}.clamp_(min={p})", (a.among(0, 1),)),
    Op("addcmul_", "mutation", "{x}.addcmul_({y}, {z})"),
    Op("data_mul_", "mutation", "{x}.data.mul_({p})", (a.among(2, 3),)),
    Op("detach_add_", "mutation", "{x}.detach().add_({p})", (a.among(1, 2),)),
    Op("diagonal_mul_", "mutation", "{x}.diagonal().mul_(2)"),
    Op("swap_rows_", "mutation", "{x}.copy_({x}.flip(0))"),
    Op("out_sin", "mutation", "torch.sin({y}, out={x})"),
]

METADATA = [
    Op("t_", "metadata", "{x}.t_()"),
    Op("unsqueeze_", "metadata", "{x}.unsqueeze_({p})", (a.dim,)),
    Op("squeeze_", "metadata", "{x}.squeeze_()"),
    Op("transpose_", "metadata", "{x}.transpose_(0, {p})", (a.dim,)),
    Op("resize_", "metadata", "{x}.resize_({p})", (a.resized,)),
    Op("set_", "metadata", "{x}.set_({y})"),
    Op("as_strided_", "metadata", "{x}.as_strided_({p}, {q})", (a.strided_size, a.strided_stride)),
    Op("set_data", "metadata", "{x}.data = {y}"),
    Op("requires_grad_", "metadata", "{x}.requires_grad_()"),
    Op("requires_no_grad_", "metadata", "{x}.requires_grad_(False)"),
    Op("detach_", "metadata", "{x}.detach_()"),
    Op("retain_grad", "metadata", "{x}.retain_grad()"),
]

#: Every op, simplest kind first.
OPS: tuple[Op, ...] = (
    *_pointwise(), *_binary(), *REDUCTIONS, *VIEWS, *MUTATIONS, *MULTI, *MATRIX, *NORMS, *INDEXING, *METADATA,
    *sizes.ROWS, *randomness.ROWS, *functions.ROWS, *operators.ROWS, *hooks.ROWS, *control.ROWS, *subclasses.ROWS,
)  # fmt: skip
#: And those that are not drawn, by name.
VOCABULARY: dict[str, Op] = {op.name: op for op in (*OPS, *layers.CALLS)}
#: The ops of each kind.
KINDS: dict[str, tuple[Op, ...]] = {kind: tuple(op for op in OPS if op.kind == kind) for kind in {op.kind: 0 for op in OPS}}
