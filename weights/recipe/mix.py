"""Weights between those of two models of the same shape, in F16: what the later one has forgotten of the earlier one comes
back in part.

  python3 mix.py later.safetensors earlier.safetensors 0.07 mixed.safetensors      7 % of the earlier one"""

import json
import struct
import sys

import numpy as np


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return data[:start], header, data[start:]


def main():
    later, earlier, share, out = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    head, tensors, numbers = load(later)
    _, others, other_numbers = load(earlier)
    mixed = bytearray(numbers)
    for name, tensor in tensors.items():
        other = others[name]
        if tensor["dtype"] != "F16" or (tensor["dtype"], tensor["shape"]) != (other["dtype"], other["shape"]):
            raise SystemExit(f"{name}: expected F16 of one shape, found {tensor['dtype']} {tensor['shape']} and "
                             f"{other['dtype']} {other['shape']}")
        (begin, end), (other_begin, other_end) = tensor["data_offsets"], other["data_offsets"]
        a = np.frombuffer(numbers[begin:end], np.float16).astype(np.float64)
        b = np.frombuffer(other_numbers[other_begin:other_end], np.float16).astype(np.float64)
        mixed[begin:end] = ((1 - share) * a + share * b).astype(np.float16).tobytes()
    with open(out, "wb") as file:
        file.write(head + bytes(mixed))


main()
