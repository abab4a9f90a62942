"""The second walk: programs through ``torch.export``, judged by chapter E of the contract."""
