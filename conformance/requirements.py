"""Every requirement of the contract: the ids that rules, findings, tests and reports share.

An id is never reused or renumbered; a new requirement gets the next free number of its chapter.

Level M: the documents say so. P: parity, the same as eager. Q: quality that consumers of the graph rely on.
Source G: the guide to joint graphs with descriptors. R: the reference of descriptors and fx_utils. E: the
export IR specification. S: docstrings of the installed torch. C: seen in code that consumes the graphs.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Those whose code reads joint graphs: "export" is torch.export itself, which calls the joint export.
CONSUMERS = ("autoparallel", "graph trainer", "partitioners", "Inductor", "export", "ONNX exporter", "unflatten", "AOTInductor")


@dataclass(frozen=True)
class Requirement:
    """One row of the contract."""

    id: str
    level: str
    sentence: str
    source: str
    #: Who reads the graph and relies on this, as CONSUMERS names them.
    consumers: tuple[str, ...] = ()


_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("D1", 'M', 'Every descriptor of the reference table exists (16 inputs, 15 outputs; 2.9 has no SavedForBackwardsNoVcCheck), derives from AOTInput or AOTOutput, and is a frozen dataclass: assigning a field raises, equal fields mean equal and same hash', 'G R'),
    ("D2", 'M', '`expr()` of each descriptor gives exactly the documented expression, nested ones included; the two bases raise NotImplementedError', 'G S'),
    ("D3", 'M', '`is_param`, `is_buffer`, `is_tangent`, `is_grad` are true exactly for the descriptors documented so, and follow the base through SubclassGetAttr at any depth', 'G R'),
    ("D4", 'M', 'TangentAOTInput accepts only a DifferentiableAOTOutput, GradAOTOutput only a DifferentiableAOTInput; anything else raises AssertionError', 'G S'),
    ("D5", 'M', 'DifferentiableAOTInput / DifferentiableAOTOutput classify exactly the tensor descriptors other than the subclass ones', 'G S'),
    ("D6", 'Q', "`eval(repr(d))` in the descriptors' namespace gives back an equal descriptor; descriptors survive pickle and deepcopy", 'C'),
    ("P1", 'M', 'Every descriptor on a joint graph is derivable top to bottom: its argument comes from an earlier stage (stage 4 may nest in itself)', 'G S'),
    ("P2", 'M', 'Never: Tangent of a subclass piece, Grad of a subclass piece, Tangent of a Grad, Grad of a Tangent', 'G S'),
    ("P3", 'M', 'Size and Stride descriptors wrap whole subclasses, never a Size or Stride; nothing wraps a token, a Philox value or a Dummy', 'G S'),
    ("P4", 'M', 'Dummy descriptors never appear on an exported graph; SavedForBackwards descriptors appear only on a partitioned forward graph', 'G S'),
    ("P5", 'M', 'ViewBase and SyntheticBase wrap stage 1 only; InputMutation wraps stage 1 or a base; IntermediateBase wraps a PlainAOTOutput', 'G S'),
    ("P6", 'M', 'Each descriptor kind appears only when the program gives cause for it (a base only where inputs alias, InputMutation only where an input was mutated, tokens only with effectful ops, Philox only with functionalized RNG), and does appear where it does', 'G S'),
    ("J1", 'M', "Every placeholder has `meta['desc']`, an AOTInput; the output node has `meta['desc']`, one entry a flat output, each an AOTOutput, or None exactly where no gradient exists for an input", 'G S'),
    ("J2", 'M', 'No two placeholders share a descriptor; no two outputs do', 'S C'),
    ("J3", 'M', 'Inputs come in this order: forward tokens, parameters (in params_spec order), buffers (in buffers_spec order), remaining primals, tangents, backward tokens; Philox values where documented', 'G S'),
    ("J4", 'M', 'Outputs come in this order: forward tokens, input mutations, plain outputs by idx, metadata mutations and intermediate bases, gradients in the order of their inputs, backward tokens', 'S'),
    ("J5", 'M', 'Complete: each flat user output i is a PlainAOTOutput(i) or its subclass pieces; each flat user input is itself, its pieces, the surviving twin of a duplicate, or represented by a base', 'G S'),
    ("J6", 'M', 'One tangent for each differentiable output that autograd reaches (plain, mutation, intermediate base), one gradient entry for each differentiable input; none for the others', 'G S'),
    ("J7", 'M', 'Pieces of one subclass are complete and in order: its `__tensor_flatten__` attributes, then symbolic sizes, then symbolic strides; nested ones recursively', 'G S'),
    ("J8", 'M', 'params_spec and buffers_spec list each parameter and buffer once, by FQN, in the order in which the compiled function takes them, parameters first', 'G R'),
    ("J9", 'M', "`graph_module` can be read and replaced; `fake_mode` is the mode of the graph's fake tensors; `in_spec`/`out_spec` unflatten to the user's structures", 'G S'),
    ("J10", 'M', '`cache_hash()` is a hex SHA-256, equal for two exports of the same program, different for different programs', 'G S'),
    ("J11", 'Q', "`meta['val']` of each placeholder has the shape, stride, dtype, device of what it stands for; a tangent's val that of its output; a gradient's val that of its input", 'C'),
    ("J12", 'Q', 'The graph is functional: no op with a mutable schema, except the final `copy_` where input mutations are kept in the graph on request, and where functionalization was switched off on request', 'G C'),
    ("J13", 'Q', 'The graph passes `lint`, recompiles, survives deepcopy with its descriptors, and its generated code runs as the interpreter does', 'C'),
    ("J14", 'Q', 'Forward nodes and backward nodes are told apart: `partitioner_tag` is present on every node and is_backward exactly for what depends on a tangent; `seq_nr` and, where asked for, `nn_module_stack` are carried', 'C'),
    ("J15", 'P', "Exporting changes nothing: parameters, buffers, inputs, their grads and version counters, the RNG state, hooks and the module's attributes are as before, and no fake tensor is left behind; also when exporting fails", 'C'),
    ("J16", 'M', 'Without anything differentiable the graph is an inference graph: no tangents, no gradients', 'S'),
    ("J17", 'Q', 'Two exports of the same program give the same graph, node for node', 'C'),
    ("J18", 'M', 'Export options do as documented: `decompositions` are applied to forward and backward, `keep_inference_input_mutations`, `ignore_shape_env`, `disable_functionalization`, `_record_nn_module_stack`, `_disable_torch_fn_metadata_mode`', 'G S'),
    ("J19", 'Q', 'Each FQN in params_spec and buffers_spec has exactly one placeholder: its own, or for a subclass its pieces; the FQNs of one tensor may share one', 'C'),
    ("J20", 'Q', 'The number of leading outputs that are no gradients is the number of forward outputs that the partition is given', 'C'),
    ("J21", 'Q', 'A training graph has, after the forward outputs, one output slot a primal, in the order of the primals; where there is no gradient None keeps its place', 'C'),
    ("J22", 'Q', 'In a training graph the names of placeholders contain `tangents` for what only the backward takes, tangents and backward tokens, and `primals` for the others', 'C'),
    ("J23", 'Q', 'A parameter that the forward does not use keeps its placeholder, and its gradient slot holds None', 'C'),
    ("J24", 'Q', '`meta["val"]` is there on every placeholder that stands for a tensor and on every call that returns something; its tensors are fake tensors of one mode, which is `fake_mode`', 'C'),
    ("J25", 'Q', '`custom` annotations of forward nodes reach the backward nodes of the same `seq_nr`, gradient accumulation excepted, each node with a dict of its own; the `seq_nr` of each other backward node is that of a forward node', 'C'),
    ("J26", 'Q', "A tangent's val has the strides that its cotangent is given at run time: those of its output, where that is static, dense and does not overlap itself", 'C'),
    ("J27", 'Q', 'No fake or other mode, and no other global state, is left behind once the ExitStack is closed, after success and after failure', 'C'),
    ("J28", 'Q', 'A module that Dynamo captured, exported with example tensors equal in kind to those of the capture but not the same objects, gets no symbolic sizes', 'C'),
    ("J29", 'Q', "Where Dynamo captured the module, every tensor call of the forward carries a `stack_trace` that points into the user's forward, replayed views included", 'C'),
    ("S1", 'M', 'The inputs computed from the descriptors alone are accepted by the graph', 'G S'),
    ("S2", 'M', "Each PlainAOTOutput(i) equals eager's output i; each InputMutation equals the input (or base) after eager ran; each IntermediateBase equals the `_base` of eager's output", 'G S'),
    ("S3", 'M', "Each gradient output equals eager's gradient for that input under the same tangents (for a duplicated input, the sum over its twins)", 'G S'),
    ("S4", 'M', "Pieces of subclasses put back together equal eager's subclass outputs and gradients", 'G S'),
    ("S5", 'M', 'Tokens thread the effectful ops in program order: running the graph performs the effects that eager performs, each once, in order', 'G S'),
    ("U1", 'M', 'get_all_input_and_grad_nodes: a key for every forward tensor input, differentiable or not, with its node and its gradient node or None; no symbolic integers, tokens or RNG values', 'G R'),
    ("U2", 'M', 'get_all_output_and_tangent_nodes: likewise for outputs and tangents, non-differentiable outputs included', 'G R'),
    ("U3", 'M', 'get_param_and_grad_nodes, get_plain_input_and_grad_nodes, get_plain_output_and_tangent_nodes: exactly the entries of that kind', 'R'),
    ("U4", 'M', 'get_param_nodes, get_buffer_nodes: in the order in which they are passed; get_named_param_nodes, get_named_buffer_nodes: by FQN', 'R'),
    ("U5", 'M', 'Each raises RuntimeError, and says why, on a graph with subclass inputs or outputs', 'G R'),
    ("U6", 'Q', 'The utilities agree with the descriptors on graphs that a pass has edited (nodes added, erased, reordered where legal)', 'C'),
    ("C1", 'M', "The callable takes parameters, then buffers, then the user's args and kwargs; gives back the user's structure", 'G S'),
    ("C2", 'P', 'Outputs: values, shape, stride, dtype, device, layout, subclass type, requires_grad, is_leaf, grad_fn or none, Nones and Python scalars', 'G'),
    ("C3", 'P', 'Gradients of parameters and inputs under random cotangents: values, None or not, dtype, subclass type, layout; for each subset of outputs that can be differentiated, and accumulated into existing `.grad`', 'G'),
    ("C4", 'P', 'Input mutations: data, metadata (shape, stride, offset), requires_grad, version counter moved or not, mutation visible through every alias the caller holds', 'G'),
    ("C5", 'P', 'Aliasing: which outputs share storage with which inputs and outputs, which are views of which, which are the very same object; writing into an output afterwards shows up exactly where it does in eager', 'G S'),
    ("C6", 'P', 'Errors: where eager raises in forward or backward, so does the pipeline (at export, compile or run), with a message for the user and not an internal assertion; where eager does not, neither does the pipeline', 'G'),
    ("C7", 'P', 'Called again, with other values, other requires_grad-compatible inputs, under no_grad, in eval or train mode, twice before one backward, backward twice with retain_graph', 'G'),
    ("C8", 'P', 'Saved activations changed in place between forward and backward raise, as in eager; those that eager does not check (stashed on ctx) do not', 'G S'),
    ("C9", 'M', 'partition_fn, fw_compiler and bw_compiler given by the caller are used, get graphs that carry descriptors, and their results run; the default runs the FX graphs as they are. Min-cut partitioning gives the same results', 'G S'),
    ("C10", 'M', 'The callable can be compiled again: `torch.compile(fullgraph=True)` over it runs forward and backward and fills parameter gradients', 'G'),
    ("C11", 'M', 'serializable=True gives a callable that serializes, loads back and computes the same', 'G S'),
    ("C12", 'M', 'A pass may edit the joint graph between export and compile, up to changing what a parameter means (another size, gathered in the graph); the result runs and differentiates', 'G'),
    ("C13", 'P', 'Random numbers: with the same seed the same dropout masks and samples as eager wherever the pipeline promises it, the same mask in forward and backward always, and the generator left in the same state', 'G'),
    ("C14", 'P', 'Effects happen as in eager: each once, in order, forward and backward, not removed as dead code', 'G S'),
    ("C15", 'M', 'The ExitStack must stay open until compiled; closed too early gives a clear error or a right result, never a wrong one', 'G'),
    ("C16", 'P', 'All of it holds on CUDA, and for symbolic shapes at several sizes', 'G'),
    ("C17", 'Q', 'Compiling twice from one export works or gives a clear error, never an internal assertion or a wrong result', 'C'),
    ("E1", 'M', 'The graph has placeholders first, call_function (and get_attr) nodes, exactly one output, last; only the documented ops; it is a legal FX graph, lints, and its generated Python runs', 'E'),
    ("E2", 'M', 'get_attr reads submodules only; parameters, buffers, constants are inputs', 'E'),
    ("E3", 'M', 'Inputs: parameters, buffers, constant tensors, then flat user inputs. Outputs: mutated inputs, then flat user outputs; the signature names exactly these nodes, each with its kind, target and persistence', 'E'),
    ("E4", 'M', 'call_function targets are ATen overloads, custom ops, higher-order ops or the documented Python builtins on symbolic numbers; after run_decompositions all of them are functional, and buffer mutation is an extra output', 'E'),
    ("E5", 'M', 'Every call_function node carries stack_trace, val, nn_module_stack, and source_fn_stack (or what replaced it) with the documented content; placeholders carry val', 'E'),
    ("E6", 'M', '`val` matches what the op returns when the program runs: tensor, tuple, symbolic int; dtype and shape agree, no implicit type promotion between a node and its consumers', 'E'),
    ("E7", 'M', "ExportedProgram's documented attributes exist and are read-only (setting raises RuntimeError); `validate()` passes; state_dict holds the lifted values; range_constraints covers each symbol", 'E'),
    ("E8", 'M', 'The exported program, called, equals eager: values, mutations, structure; also after save and load, after run_decompositions, through `module()`', 'E'),
    ("E9", 'M', 'Every pytree-able type of the documented table passes the boundary, as input and as output: leaves and containers, named tuples, registered dataclasses, custom registered nodes; others get a clear error', 'E'),
    ("E10", 'M', 'Dynamic shapes: symbols, ranges, equalities hold for every size in range; out of range is refused with a clear error; rank is never dynamic', 'E'),
    ("E11", 'M', 'Control flow (cond, map, while_loop, scan) appears as higher-order ops with subgraphs read by get_attr, and computes as eager does', 'E'),
)

#: By requirement, who is known to rely on it.
_CONSUMERS: dict[str, tuple[str, ...]] = {
    "J3": ("autoparallel", "graph trainer", "partitioners", "Inductor", "export"),
    "J4": ("autoparallel", "partitioners"),
    "J5": ("autoparallel",),
    "J9": ("autoparallel", "graph trainer"),
    "J13": ("autoparallel",),
    "J14": ("autoparallel", "graph trainer", "partitioners"),
    "J19": ("autoparallel",),
    "J21": ("autoparallel", "graph trainer"),
    "J22": ("autoparallel", "partitioners"),
    "J23": ("autoparallel",),
    "J24": ("autoparallel", "graph trainer"),
    "J25": ("autoparallel", "graph trainer"),
    "J26": ("autoparallel", "Inductor"),
    "J27": ("autoparallel",),
    "J28": ("autoparallel", "graph trainer"),
    "J29": ("autoparallel", "graph trainer"),
    # What reads exported programs is in torch itself: torch/onnx/_internal/exporter/_core.py, torch/export/unflatten.py,
    # and torch/_inductor/compile_fx.py, which AOTInductor compiles them by.
    "E3": ("ONNX exporter", "unflatten", "AOTInductor"),
    "E4": ("ONNX exporter",),
    "E5": ("ONNX exporter", "unflatten"),
    "E6": ("ONNX exporter", "AOTInductor"),
    "E7": ("ONNX exporter", "unflatten"),
}

REQUIREMENTS: dict[str, Requirement] = {row[0]: Requirement(*row, _CONSUMERS.get(row[0], ())) for row in _ROWS}
