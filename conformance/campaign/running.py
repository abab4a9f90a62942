"""A stand-alone script run as its reader would run it: in a Python of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Seconds that a script may take: most of them go into the import of torch.
TIMEOUT = 60.0


@dataclass(frozen=True)
class Ran:
    """What a script printed, and its exit status: negative where a signal ended it, None where its time was up."""

    status: int | None
    output: str


def run_script(text: str, timeout: float = TIMEOUT) -> Ran:
    """Run the script ``text`` in a folder of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.py"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, str(file)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        try:
            ran = subprocess.run(command, cwd=folder, env=environment, timeout=timeout, **streams)  # type: ignore[call-overload]
        except subprocess.TimeoutExpired as error:
            return Ran(None, _text(error.stdout, folder))
    return Ran(ran.returncode, _text(ran.stdout, folder))


def _text(output: bytes | None, folder: str) -> str:
    return (output or b"").decode(errors="replace").replace(f"{folder}{os.sep}", "")
