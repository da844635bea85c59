"""Generate the Python of proto/salvo/v1 into the SDK: ``python proto/generate.py [FOLDER]``.

Needs the extra ``dev`` (protoc 31.1, whose code loads on protobuf 6.31.1 and later).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PROTO = Path(__file__).parent
SDK = PROTO.parent / "client_sdk"


def generate(target: Path) -> list[Path]:
    """Write the modules below ``target``; return them."""
    protoc = shutil.which("protoc", path=sysconfig.get_path("scripts"))
    if protoc is None:
        raise SystemExit("protoc is missing: pip install -e '.[dev]'")
    sources = sorted((PROTO / "salvo" / "v1").glob("*.proto"))
    subprocess.run(
        [protoc, f"--proto_path={PROTO}", f"--python_out={target}", f"--pyi_out={target}", *map(str, sources)],
        check=True,
    )
    return sorted((target / "salvo" / "v1").glob("*_pb2.py*"))


if __name__ == "__main__":
    for path in generate(Path(sys.argv[1]) if len(sys.argv) > 1 else SDK):
        print(path)
