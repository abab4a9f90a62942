"""What autograd calls: hooks on a tensor's gradient, and on an accumulated one."""


def hook(x, called):
    """Up to torch 2.14 ``register_hook`` crashes on a view whose base was written since, unless grad_fn was read."""
    if x.is_leaf or x.grad_fn is not None:
        x.register_hook(called)


def doubled_gradient(gradient):
    return gradient * 2


def unchanged_gradient(gradient):
    return None


def double_accumulated(parameter):
    parameter.grad = parameter.grad * 2
