"""Autograd functions: each breaks one habit that a tracer may rely on."""

import torch


class Exponential(torch.autograd.Function):
    """Saves its own result."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient * result


class Cube(torch.autograd.Function):
    """Keeps its operand on the context, where no version counter guards it."""

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3 * ctx.x * ctx.x


class Product(torch.autograd.Function):
    """Two operands, which may be one tensor."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return (gradient * y).sum_to_size(x.shape), (gradient * x).sum_to_size(y.shape)


class SineAndCosine(torch.autograd.Function):
    """Two results."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, of_sine, of_cosine):
        (x,) = ctx.saved_tensors
        return of_sine * x.cos() - of_cosine * x.sin()


class HalfAndSign(torch.autograd.Function):
    """The second result is not differentiable."""

    @staticmethod
    def forward(ctx, x):
        half, sign = x / 2, x.sgn()
        ctx.mark_non_differentiable(sign)
        return half, sign

    @staticmethod
    def backward(ctx, gradient, of_sign):
        return gradient / 2


class TripledInPlace(torch.autograd.Function):
    """Writes its operand, and gives it back."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


class Halves(torch.autograd.Function):
    """Its backward tells a gradient that is not there from one of zeros."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        if first is None:
            return None if second is None else second * 10
        return first * 100 if second is None else first + second


class OnceDifferentiable(torch.autograd.Function):
    """Its backward can't be differentiated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x.cos()


class Sum(torch.autograd.Function):
    """The second operand gets no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.shape = x.shape
        return x + y

    @staticmethod
    def backward(ctx, gradient):
        return gradient.sum_to_size(ctx.shape), None


class GradientInPlace(torch.autograd.Function):
    """Its backward writes the gradient that comes in."""

    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, gradient):
        return gradient.mul_(3)


class Flat(torch.autograd.Function):
    """Its result is a view of its operand."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.view(ctx.shape)


class FirstDoubled(torch.autograd.Function):
    """Works on views inside, and writes through one of them."""

    @staticmethod
    def forward(ctx, x):
        result = x.clone()
        result[0].mul_(2)
        return result

    @staticmethod
    def backward(ctx, gradient):
        result = gradient.clone()
        result[0].mul_(2)
        return result


class Same(torch.autograd.Function):
    """Gives back its operand itself, and doubles the gradient."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class FreshInPlace(torch.autograd.Function):
    """Writes its own fresh result; the backward is none that the writes would give."""

    @staticmethod
    def forward(ctx, x):
        result = x * 2
        result += 1
        return result

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 7


class Power(torch.autograd.Function):
    """The context is set up apart from the forward; one operand is a number."""

    @staticmethod
    def forward(x, exponent):
        return x**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.exponent = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ctx.exponent * x ** (ctx.exponent - 1), None


class StraightThrough(torch.autograd.Function):
    """The gradient passes as if nothing had been rounded."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient
