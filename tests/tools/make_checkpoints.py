"""Writes small checkpoints with torch itself: truth for tests/unit/weights/test_torch.c, seeds for the fuzzers.

Needs Debian's python3-torch.  /usr/bin/python3 tests/tools/make_checkpoints.py
"""

import collections
import pathlib
import zipfile

import torch

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus"


def checkpoint():
    """What checkpoints do: views, strides, storages that are shared, parameters, several dtypes."""
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    tensors = collections.OrderedDict()
    tensors["plain"] = base.clone()
    tensors["tied"] = tensors["plain"]
    tensors["transposed"] = base.t()
    tensors["slice"] = base[1:3, 2:5]
    tensors["half"] = torch.tensor([1.5, -2.0, 65504.0], dtype=torch.float16)
    tensors["bfloat16"] = torch.tensor([1.5, -3.0], dtype=torch.bfloat16)
    tensors["parameter"] = torch.nn.Parameter(torch.tensor([[7.0]]))
    tensors["scalar"] = torch.tensor(-4, dtype=torch.int64)
    tensors["empty"] = torch.zeros(0, 3)
    tensors._metadata = {"": {"version": 1}}
    return tensors


def main():
    (CORPUS / "torch").mkdir(parents=True, exist_ok=True)
    (CORPUS / "pickle").mkdir(parents=True, exist_ok=True)
    for name, is_zip in (("zip", True), ("legacy", False)):
        path = CORPUS / "torch" / f"{name}.bin"
        torch.save(checkpoint(), path, _use_new_zipfile_serialization=is_zip)
    with zipfile.ZipFile(CORPUS / "torch" / "zip.bin") as archive:
        (CORPUS / "pickle" / "data.pkl").write_bytes(archive.read("zip/data.pkl"))


if __name__ == "__main__":
    main()
