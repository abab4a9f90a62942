"""Imports that torch delays until the first export: made once, before the children are forked."""

import torch._dynamo.functional_export
import torch._functorch.aot_autograd
import torch._functorch.partitioners
import torch._inductor.output_code
import torch.fx.experimental.symbolic_shapes  # noqa: F401
