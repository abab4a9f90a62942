"""Calls of which eager's own result is undefined are told before they run."""

from __future__ import annotations

import pytest
import torch

from generators.build import Scope
from generators.defined import check_defined
from generators.program import Statement
from generators.subclasses import wrapped


def test_a_subclass_is_no_data_of_a_plain_tensor() -> None:
    scope = Scope({"a0": torch.ones(2), "a1": wrapped("pair", torch.ones(2))})
    with pytest.raises(ValueError, match="no data of its own"):
        check_defined(Statement("set_data", ("a0", "a1")), scope)
