"""Programs that are a little other than a given one: one to three edits, and then whatever eager accepts of it.

An edit may leave a statement that fits no more: it is run as it is, then with other arguments and operands, and
left out if eager refuses all of them. The same program, other program and random numbers give the same mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import torch

from generators.build import build, make_leaves
from generators.candidates import canonical
from generators.codec import ProgramError, check_names
from generators.dressings import DRESSINGS
from generators.fit import names_inside
from generators.loose import FAMILIES
from generators.options import OPTIONS
from generators.program import MODES, Leaf, Node, Program, Ref, Statement, Tree, map_refs
from generators.settle import REFUSALS, StateScope, fitting_arguments, small_results
from generators.subclasses import SUBCLASSES
from generators.vocabulary import DTYPES, KINDS, VOCABULARY, Op

#: In place of an argument or operand: any that fits.
ANY = "any"
#: How often a statement is tried with other arguments, and after that with other operands, too.
TRIES_OF_ARGUMENTS, TRIES_OF_OPERANDS = 3, 10
#: Edits of one mutant, one of these.
EDITS_AT_ONCE = (1, 1, 2, 3)
#: No mutant has more statements or outputs than this.
MAX_STATEMENTS, MAX_OUTPUTS = 14, 5
#: Mutants tried of one program before it is given up.
ATTEMPTS = 5

_REFUSED = (*REFUSALS, ZeroDivisionError)
Edit = Callable[[Program, Program, Random], Program]


def mutant(program: Program, other: Program, seed: str) -> Program | None:
    """A program that eager runs, ``program`` with some edits, one of which may take a part of ``other``.

    None if no attempt gives one that is another program.
    """
    random = Random(seed)
    for _ in range(ATTEMPTS):
        changed = program
        for _ in range(random.choice(EDITS_AT_ONCE)):
            changed = random.choice(EDITS)(changed, other, random)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            fitting = _refitted(changed, random)
        if fitting is not None and fitting != program:
            return fitting
    return None


def inserted(program: Program, other: Program, random: Random) -> Program:
    """With one more statement in the body, whose result becomes an output or an operand of what follows."""
    place = random.randint(0, len(program.body))
    statement = _any_call(random.choice(KINDS[random.choice(list(KINDS))]), "new", random.choice(("",) * 8 + tuple(MODES)))
    body = (*program.body[:place], statement, *_one_operand(program.body[place:], "new", random))
    more = replace(program, body=body)
    return _with_output(more, Ref("new")) if statement.results and random.random() < 0.5 else more


def inserted_in_setup(program: Program, other: Program, random: Random) -> Program:
    """With one more statement of the caller, often a view, whose result is passed, too."""
    kind = random.choice(("view", "view", "view", "pointwise", "mutation", "metadata", "subclass"))
    statement = _any_call(random.choice([op for op in KINDS[kind] if not op.needs_module]), "xnew", "")
    place = random.randint(0, len(program.setup))
    passed = (*program.args, *([Ref("xnew")] if statement.results else []))
    return replace(program, setup=(*program.setup[:place], statement, *program.setup[place:]), args=passed)


def removed(program: Program, other: Program, random: Random) -> Program:
    """Without one statement of body or setup."""
    place = random.randrange(len(program.body) + len(program.setup) or 1)
    if place < len(program.body):
        return replace(program, body=program.body[:place] + program.body[place + 1 :])
    place -= len(program.body)
    return replace(program, setup=program.setup[:place] + program.setup[place + 1 :])


def repeated(program: Program, other: Program, random: Random) -> Program:
    """With one statement of the body a second time, later, on its own results if it has any."""
    if not program.body:
        return program
    place = random.randrange(len(program.body))
    old = program.body[place]
    again = replace(old, results=tuple(f"{name}_again" for name in old.results))
    if old.results and random.random() < 0.5:
        again = replace(again, operands=(old.results[0], *old.operands[1:]))
    later = random.randint(place + 1, len(program.body))
    return replace(program, body=(*program.body[:later], again, *program.body[later:]))


def of_another_op(program: Program, other: Program, random: Random) -> Program:
    """With one statement's op another one of its kind."""
    return _one_statement(program, random, lambda old: _as(old, random.choice(KINDS[VOCABULARY[old.op].kind])))


def of_other_operands(program: Program, other: Program, random: Random) -> Program:
    """With one operand any other."""
    return _one_statement(program, random, lambda old: next(iter(_one_operand((old,), ANY, random))))


def of_other_arguments(program: Program, other: Program, random: Random) -> Program:
    """With one statement's arguments any others."""
    return _one_statement(program, random, lambda old: replace(old, arguments=(ANY,) * len(old.arguments)))


def under_another_mode(program: Program, other: Program, random: Random) -> Program:
    """With one statement under another mode."""
    return _one_statement(program, random, lambda old: replace(old, mode=random.choice(tuple(MODES))))


def with_another_leaf(program: Program, other: Program, random: Random) -> Program:
    """With one leaf other: its gradient, its shape, its dtype, its subclass, whether it is a parameter."""
    changes: tuple[Callable[[Leaf], Leaf], ...] = (
        lambda leaf: replace(leaf, requires_grad=not leaf.requires_grad),
        lambda leaf: replace(leaf, shape=random.choice(random.choice(FAMILIES)), stride=None),
        lambda leaf: replace(leaf, dtype=random.choice(list(DTYPES))),
        lambda leaf: replace(leaf, subclass=random.choice(("", *SUBCLASSES))),
        lambda leaf: replace(leaf, parameter=not leaf.parameter),
    )
    place = random.randrange(len(program.leaves))
    leaf = random.choice(changes)(program.leaves[place])
    if not (DTYPES[leaf.dtype].is_floating_point or DTYPES[leaf.dtype].is_complex):
        leaf = replace(leaf, requires_grad=False)
    return replace(program, leaves=(*program.leaves[:place], leaf, *program.leaves[place + 1 :]))


def with_another_output(program: Program, other: Program, random: Random) -> Program:
    """With one more output: any value that the forward sees."""
    return _with_output(program, Ref(random.choice(_names_at_the_end(program))))


def without_an_output(program: Program, other: Program, random: Random) -> Program:
    """With one output, no more, where it returns several."""
    flat = program.flat_outputs
    return replace(program, outputs=Node("tuple", (random.choice(flat),))) if len(flat) > 1 else program


def with_aliased_arguments(program: Program, other: Program, random: Random) -> Program:
    """With one argument more, or in place of another: a value of the caller that may be passed already."""
    caller = [leaf.name for leaf in program.leaves] + [name for statement in program.setup for name in statement.results]
    passed = Ref(random.choice(caller))
    if not program.args or random.random() < 0.5:
        return replace(program, args=(*program.args, passed))
    place = random.randrange(len(program.args))
    return replace(program, args=(*program.args[:place], passed, *program.args[place + 1 :]))


def in_another_way(program: Program, other: Program, random: Random) -> Program:
    """With another option, another dressing, or other symbolic sizes."""
    choice = random.randrange(4)
    if choice == 0:
        sizes = sorted({size for leaf in program.leaves for size in leaf.shape if size > 1})
        return replace(program, symbolic=() if program.symbolic or not sizes else (random.choice(sizes),))
    if choice == 1:
        return replace(program, dressing=() if program.dressing else (random.choice(list(DRESSINGS)),))
    return replace(program, options=tuple(sorted({*program.options[:1], random.choice(list(OPTIONS))})))


def spliced(program: Program, other: Program, random: Random) -> Program:
    """With the end of the other program's body after the beginning of its own, on its own values."""
    first, second = (random.randint(0, len(some.body)) for some in (program, other))
    taken = tuple(
        replace(s, operands=tuple(f"{n}_other" for n in s.operands), results=tuple(f"{n}_other" for n in s.results))
        for s in other.body[second:]
    )
    whole = replace(program, body=program.body[:first] + taken)
    for name in [name for statement in taken for name in statement.results][-1:]:
        whole = _with_output(whole, Ref(name))
    return whole


#: Each is named as often as it weighs.
EDITS: tuple[Edit, ...] = (
    *(inserted,) * 4,
    *(inserted_in_setup,) * 2,
    *(of_another_op,) * 3,
    *(of_other_operands,) * 3,
    *(with_aliased_arguments,) * 2,
    *(with_another_leaf,) * 3,
    *(with_another_output,) * 2,
    *(in_another_way,) * 2,
    removed,
    repeated,
    of_other_arguments,
    under_another_mode,
    without_an_output,
    spliced,
)


def _any_call(op: Op, result: str, mode: str) -> Statement:
    operands, arguments = (ANY,) * op.operands, (ANY,) * len(op.arguments)
    return Statement(op.name, operands, arguments, (result,) if op.has_result else (), mode)


def _as(old: Statement, op: Op) -> Statement:
    operands = (*old.operands, *(ANY,) * op.operands)[: op.operands]
    results = old.results if op.many else old.results[:1] if op.has_result else ()
    return replace(old, op=op.name, operands=operands, arguments=(ANY,) * len(op.arguments), results=results)


def _one_statement(program: Program, random: Random, change: Callable[[Statement], Statement]) -> Program:
    if not program.body:
        return program
    place = random.randrange(len(program.body))
    return replace(program, body=(*program.body[:place], change(program.body[place]), *program.body[place + 1 :]))


def _one_operand(statements: Sequence[Statement], name: str, random: Random) -> Iterator[Statement]:
    """The statements, with one operand of one of them replaced."""
    places = [(i, k) for i, statement in enumerate(statements) for k in range(len(statement.operands))]
    chosen = random.choice(places) if places else None
    for i, statement in enumerate(statements):
        operands = tuple(name if (i, k) == chosen else old for k, old in enumerate(statement.operands))
        yield replace(statement, operands=operands)


def _with_output(program: Program, output: Tree) -> Program:
    outputs = program.outputs
    if isinstance(outputs, Node) and outputs.kind != "dict":
        return replace(program, outputs=Node(outputs.kind, (*outputs.children, output)))
    return replace(program, outputs=Node("tuple", (outputs, output)))


def _names_at_the_end(program: Program) -> list[str]:
    return names_inside(program) + [name for statement in program.body for name in statement.results] or [ANY]


def _refitted(program: Program, random: Random) -> Program | None:
    """The program as far as eager runs it, under canonical names; None if nothing comes of it."""
    try:
        run = _Run(make_leaves(program.leaves), random)
        setup = tuple(run.fitted(program.setup))
        caller = list(run.values)
        state = tuple(s for s in program.state if s.value in run.values)
        args = tuple(run.tree(tree, caller) for tree in program.args)
        kwargs = tuple((key, run.tree(tree, caller)) for key, tree in program.kwargs)
        outer = replace(program, setup=setup, state=state, args=args, kwargs=kwargs)
        flat = {f"a{i}": run.values[x.name] if isinstance(x, Ref) else x.value for i, x in enumerate(outer.flat_args)}
        run.values = flat | {f"self.{s.fqn}": run.values[s.value] for s in state}
        body = tuple(run.fitted(program.body))[:MAX_STATEMENTS]
        whole = canonical(_with_outputs_of(replace(outer, body=body), run, random))
        check_names(whole)
        built = build(whole)
        built.module(*built.args, **built.kwargs)
    except (ProgramError, KeyError, *_REFUSED):
        return None
    return whole


def _with_outputs_of(program: Program, run: _Run, random: Random) -> Program:
    """With outputs that are there: any other for one that is gone, and no more than are usual."""
    names = [name for name in _names_at_the_end(program) if run.values.get(name) is not None]
    outputs = run.tree(program.outputs, names)
    whole = replace(program, outputs=outputs)
    flat = whole.flat_outputs
    return whole if len(flat) <= MAX_OUTPUTS else replace(whole, outputs=Node("tuple", flat[-MAX_OUTPUTS:]))


@dataclass
class _Run:
    """Statements run in eager one after another; what does not run is chosen anew, or left out."""

    values: dict[str, Any]
    random: Random

    def tree(self, tree: Tree, names: Sequence[str]) -> Tree:
        """The tree with one of the names for each that is not among them."""
        return map_refs(lambda ref: ref if ref.name in names else Ref(self.random.choice(names)), tree)

    def fitted(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        """Each statement that runs, as it runs."""
        for statement in statements:
            for attempt in self._attempts(statement):
                try:
                    results = small_results(attempt, StateScope(self.values))
                except _REFUSED:
                    continue
                yield self._bound(attempt, results)
                break

    def _attempts(self, statement: Statement) -> Iterator[Statement]:
        """The statement as it is if it can be run, then with other arguments, then with other operands."""
        names = [name for name, value in self.values.items() if value is not None]
        if not names:
            return
        numbers = iter(lambda: self.random.randrange(256), None)
        known = all(name in self.values for name in statement.operands)
        if known and ANY not in statement.arguments:
            yield statement
        for number in range(TRIES_OF_ARGUMENTS + TRIES_OF_OPERANDS):
            keeps = number < TRIES_OF_ARGUMENTS
            operands = tuple(n if keeps and n in self.values else self._near(names) for n in statement.operands)
            try:
                arguments = fitting_arguments(VOCABULARY[statement.op], [self.values[n] for n in operands], numbers)
            except _REFUSED:
                continue
            yield replace(statement, operands=operands, arguments=arguments)

    def _near(self, names: list[str]) -> str:
        """Half of the time one of the newest three."""
        return self.random.choice(names[-3:] if self.random.random() < 0.5 else names)

    def _bound(self, statement: Statement, results: list[Any]) -> Statement:
        names = statement.results[: len(results)]
        names += tuple(f"{names[0]}_{i}" for i in range(len(names), len(results)) if names)
        self.values.update(zip(names, results, strict=True))
        return replace(statement, results=names)
