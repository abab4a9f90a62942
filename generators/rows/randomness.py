"""Rows that draw random numbers, and checkpoints, which must draw the same ones again."""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

ROWS = (
    Op("dropout", "rng", "F.dropout({x}, {p})", (a.among(0.5, 0.1, 0.0, 1.0),)),
    Op("dropout_eval", "rng", "F.dropout({x}, {p}, training=False)", (a.among(0.5,),)),
    Op("alpha_dropout", "rng", "F.alpha_dropout({x}, {p}, training=True)", (a.among(0.5,),)),
    Op("feature_dropout", "rng", "F.dropout1d({x}, {p})", (a.among(0.5,),)),
    Op("rand_like", "rng", "torch.rand_like({x})"),
    Op("randn_like", "rng", "torch.randn_like({x})"),
    Op("randint_like", "rng", "torch.randint_like({x}, {p})", (a.among(5, 2),)),
    Op("rand", "rng", "torch.rand({x}.shape)"),
    Op("bernoulli", "rng", "torch.bernoulli({x}.sigmoid())"),
    Op("normal", "rng", "torch.normal({x}, {p})", (a.among(1.0, 0.5),)),
    Op("randperm", "rng", "torch.randperm({x}.size(0))"),
    Op("multinomial", "rng", "torch.multinomial({x}.sigmoid(), 1)"),
    Op("rrelu", "rng", "F.rrelu({x}, training=True)"),
    Op("gumbel_softmax", "rng", "F.gumbel_softmax({x}, dim={p})", (a.dim,)),
    Op("bernoulli_", "rng_mutation", "{x}.bernoulli_({p})", (a.among(0.5, 0.9),)),
    Op("uniform_", "rng_mutation", "{x}.uniform_()"),
    Op("normal_", "rng_mutation", "{x}.normal_()"),
    Op("exponential_", "rng_mutation", "{x}.exponential_()"),
    Op("random_", "rng_mutation", "{x}.random_(0, {p})", (a.among(5, 2),)),
    Op("checkpoint", "checkpoint", "checkpoint(sine_twice, {x}, use_reentrant={p})", (a.among(False, True),)),
    Op("checkpoint_dropout", "checkpoint", "checkpoint(sine_dropped, {x}, use_reentrant={p})", (a.among(False, True),)),
    Op("checkpoint_in_place", "checkpoint", "checkpoint(sine_tripled, {x}, use_reentrant={p})", (a.among(False, True),)),
)
