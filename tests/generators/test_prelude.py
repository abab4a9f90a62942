"""A script carries exactly the blocks of the preludes that its code needs."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
import torch

from generators.prelude import NAMES, blocks, text_for
from generators.settle import KEYWORDS
from generators.subclasses import pieces, wrapped


def test_code_that_speaks_of_no_prelude_needs_none() -> None:
    assert text_for("torch.sin(x) + F.relu(x)") == []


def test_a_block_brings_what_it_mentions() -> None:
    carried = "\n".join(text_for("f(OWN_DECOMPOSITIONS)"))
    assert "def sigmoid_by_exp" in carried and "OWN_DECOMPOSITIONS = {" in carried


def test_a_block_brings_what_adds_to_it() -> None:
    extended = next(block.extends for block in blocks() if block.extends)
    assert len(text_for(extended)) > 1


def test_a_name_is_brought_without_its_neighbours() -> None:
    assert "def given_back_doubled" not in "\n".join(text_for("kept_as_it_is(x)"))


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.text.splitlines()[0])
def test_a_block_is_code_of_its_own(block: object) -> None:
    assert ast.parse(block.text).body  # type: ignore[attr-defined]


def test_no_prelude_is_hidden_by_an_argument_of_forward() -> None:
    assert not NAMES.keys() & set(KEYWORDS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("subclass", ["pair", "mixed", "tilted", "two_tensor", "nested"])
def test_the_pieces_of_a_subclass_share_no_memory(subclass: str, dtype: torch.dtype) -> None:
    held = [piece.data_ptr() for _, piece in pieces(wrapped(subclass, torch.ones(2, dtype=dtype)))]
    assert len(set(held)) == len(held)


def test_no_two_preludes_give_one_name() -> None:
    given = Counter(name for block in blocks() for name in block.defines if not block.extends)
    assert [name for name, times in given.items() if times > 1] == []
