"""What a violation is a symptom of, in words that are equal for one fault in two programs and differ for two faults.

A signature is exact, since shrinking must not slip from one fault to the next. A symptom leaves out what varies with
the program around the fault: which op or descriptor it is about, at what stage the same function raised, and by how
many rules it is noticed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.signature import without_numbers
from reports.record import ViolationRow

#: Functions that run whatever they are given: an error out of them is told by its message, any other by its function.
_PASSES_ON = re.compile(
    r"_ops\.py:|__init__\.py:_check_with|nn/modules/module\.py:|autograd/graph\.py:|fx/interpreter\.py:|fx/graph_module\.py:"
    r"|_tensor\.py:|_dynamo/|_compile\.py:|fx/experimental/proxy_tensor\.py:|_subclasses/functional_tensor\.py:"
    r"|_functorch/_aot_autograd/(fx_utils\.py:|subclass_codegen\.py:)|.*:(inner|inner_fn|wrapped|wrapper)$"
)
_ERROR = re.compile(r"\w*(Error|Exception|Failed|Interrupt)\b: ")
_DESCRIPTOR = re.compile(r"\w+AOT(?:Input|Output)\b(?:\([^()]*\))?")
#: Names of ops, of classes and of utilities, as paths and messages have them.
_NAME = re.compile(r"<built-in function \w+>|\b[a-z]\w*(?:\.\w+)+|\b[A-Z]\w+(?= is a view)|'[^']*'|\b\w+_nodes\b")
#: Where errors come up before the call.
_BEFORE = ("export:", "compile:")
#: How much of a message counts: what follows is about the program.
_MESSAGE = 100
#: Rules that compare sets: one thing too few is as often one too many.
_OF_A_SET = frozenset({"J5", "J6"})
_ABSENT = re.compile(r"None\b|none\b|nothing\b")

#: The levels, the most telling first; what is ALONE neither follows from another symptom nor explains one.
UNDESCRIBED, DESCRIPTORS, EFFECTS, SHARED, KIND, STRIDES, STATE, VALUE, GRADIENT, RAISED, ALONE = range(11)
_CALLS = r"(train|twice|again|alone#|retained)"


@dataclass(frozen=True)
class _Row:
    """A regular expression for the beginning of a signature, and what it is a symptom of: see Symptom.

    Without a text it is where the rule says it is, without names.
    """

    signature: str
    level: int
    aspect: str = ""
    text: str = ""


#: The first row that fits says it.
_TABLE = (
    _Row(r"J1 ", UNDESCRIBED, "descriptors", "there are no descriptors"),
    _Row(r"P6 ", DESCRIPTORS, "tokens", "tokens"),
    _Row(r"(P\d|J[2-8]) |S\d \w+ #: no descriptor", DESCRIPTORS, "descriptors"),
    _Row(r"(C14|S5) .*effects", EFFECTS, "effects", "effects"),
    _Row(r"C13 .*(rng|twice)", EFFECTS, "random numbers", "random numbers"),
    _Row(rf"\S+ {_CALLS}:.*\.shares ", SHARED, "memory", "other memory is shared"),
    _Row(r"\S+ (train|non_leaf):.*\.base ", SHARED, "memory", "other memory is shared"),
    _Row(r"\S+ train:.*\.is 'caller", SHARED, "identity", "not the input itself"),
    _Row(r"\S+ train:.*\.is 'outputs", SHARED, "identity", "not the other output itself"),
    _Row(r"\S+ train:.*\.is ", SHARED, "identity", "not a tensor of its own"),
    _Row(rf"\S+ {_CALLS}:.*\bgrads?\..*\.(type|pieces|stride)\b", GRADIENT, "value", "another gradient"),
    _Row(rf"\S+ {_CALLS}:.*\.(shape|dtype|type|pieces)\b|S\d .*\.type\b", KIND, "kind", "another kind of tensor"),
    _Row(rf"\S+ {_CALLS}:.*\.stride\b", STRIDES, "kind", "other strides"),
    _Row(r"\S+ train:.*\.autograd 'no_grad view' ", ALONE, text="no view taken under no_grad"),
    _Row(r"\S+ train:.*\.autograd 'no grad' ", STATE, "autograd", "a gradient too many"),
    _Row(r"\S+ train:.*\.autograd 'grad_fn' ", STATE, "autograd", "a gradient too few"),
    _Row(r"\S+ train:.*\.autograd 'stale view' ", STATE, "autograd", "no stale view"),
    _Row(r"\S+ train:.*\.autograd 'leaf' ", STATE, "autograd", "no leaf"),
    _Row(r"\S+ train:(outputs|caller).*(?<!grad)\.value\b|S[12] .*\.value\b", VALUE, "value", "another value"),
    _Row(r"\S+ train:.*\.(value|none)\b|S\d .*\.value\b", GRADIENT, "value", "another gradient"),
    _Row(r"\S+ written(_no_grad)?:", ALONE, "later write", "a later write is another"),
    _Row(r"\S+ twice:.*\.value\b", GRADIENT, "value", "a second call is another"),
    _Row(r"\S+ (alone#|one_by_one):.*\.(value|none)\b", GRADIENT, "value", "the gradient of one output alone is another"),
    _Row(r"\S+ \w+:.*\.(value|none)\b", GRADIENT, "value"),
    _Row(r"\S+ train:.*\.written False ", ALONE, "version", "the version counter moves"),
    _Row(r"\S+ train:.*\.written True ", ALONE, "version", "the version counter stays"),
    _Row(r"\S+ no_grad:.*\.autograd '(no grad|no_grad view)' ", ALONE, text="a gradient under no_grad"),
    _Row(r"\S+ no_grad:.*\.autograd '.*' -> 'no_grad view'", ALONE, text="a view is one of the caller's grad mode"),
)


@dataclass(frozen=True)
class Symptom:
    """``aspect``: what is looked at; ``text``: what is wrong there; ``place``: the caller's tensor or the output, or ""."""

    aspect: str
    text: str
    level: int
    place: str = ""

    def explains(self, other: Symptom) -> bool:
        """Whether the other symptom of the same program follows from this one, as far as levels tell."""
        if self.level >= other.level or ALONE in (self.level, other.level):
            return False
        if self.level <= DESCRIPTORS or other.level in (DESCRIPTORS, RAISED):
            return self.level <= DESCRIPTORS and other.level in (DESCRIPTORS, RAISED)
        if self.level == VALUE:
            return True
        return other.level == VALUE or (bool(self.place) and self.place == other.place)


def symptom_of(violation: ViolationRow) -> Symptom:
    """The symptom that a violation is."""
    path = without_numbers(violation.path)
    expected, found, frame = _parts(violation, path)
    place = place_of(violation.path)
    if error := _error(path, expected, found, frame):
        return Symptom("error", error, ALONE if path.startswith(_BEFORE) else RAISED)
    row = next((row for row in _TABLE if re.match(row.signature, violation.signature)), _Row("", ALONE))
    return Symptom(row.aspect, row.text or _on_graph(violation.rule, path, found), row.level, place)


def place_of(path: str) -> str:
    """The output, or the caller's tensor, that a path speaks of: ``outputs[1]``, ``x0``, or "" for neither."""
    match = re.search(r"(outputs\[\d+\])|(?:caller|grads)\.(x\d+)", path)
    return (match[1] or match[2]) if match else ""


def _parts(violation: ViolationRow, path: str) -> tuple[str, str, str]:
    """Expected, found and frame, as the signature has them."""
    rest = violation.signature.removeprefix(f"{violation.rule} {path}").strip()
    if match := re.search(r" in (\S+\.py:\S+)$", rest):
        rest, frame = rest[: match.start()], match[1]
    else:
        frame = ""
    expected, _, found = rest.partition("-> ")
    return expected.strip(), found, frame


def _error(path: str, expected: str, found: str, frame: str) -> str:
    """What was raised, or what should have been; "" where it isn't about errors."""
    if frame and not _PASSES_ON.match(frame):
        return f"raised in {frame}"
    if frame or _ERROR.match(found):
        return f"raised {'before' if path.startswith(_BEFORE) else 'at'} run time: {_bare(found)}"
    scenario, colon, what = path.partition(":")
    if colon and what in ("error", "message"):
        return f"not raised in {scenario}: {_bare(re.sub(r'^[A-Za-z]+ in [a-z]+: ', '', expected))}"
    return ""


def _bare(text: str) -> str:
    """The text without names of ops, descriptors and utilities."""
    return " ".join(_NAME.sub("~", _DESCRIPTOR.sub("~", text)).split())[:_MESSAGE]


def _on_graph(rule: str, path: str, found: str) -> str:
    """What a rule says of the graph: where, without names, and whether something is missing there."""
    missing = " is missing" if rule not in _OF_A_SET and _ABSENT.match(found) else ""
    if rule == "J14" and missing:  # one node without tags is seen by each of them
        path = re.sub(r"^(partitioner_tag|seq_nr) of .*", "tags of a node", path)
    if rule.startswith("U"):  # each utility that goes through the same nodes says the same
        rule, path = "U", re.sub(r"^\w+_nodes (\w+ of )?| (inputs|outputs)$", "", path)
    return f"{rule} {_bare(path)}{missing}"
