"""Asked to, an inference graph keeps the mutation as a final copy_, and no output stands for it (J12)."""
x = tensor(2, 3)
options("keep_inference_input_mutations")

def forward(x):
    x.mul_(2)
    y = torch.sin(x)
    return y

inputs(Plain(0))
outputs(Plain(0))
