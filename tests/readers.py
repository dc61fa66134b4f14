"""Independent readers of what attentiond writes, from the formats' own descriptions and Python's
standard library alone: safetensors, npy, PNG."""

import ast
import json
import math
import struct
import zlib

DTYPES = {"F32": ("f", 4), "I32": ("i", 4), "I64": ("q", 8)}


class Array:
    """Numbers with a shape: a[i, j, ...] is one number, a[i] the array at i."""

    def __init__(self, shape, numbers):
        assert math.prod(shape) == len(numbers), (shape, len(numbers))
        self.shape, self.numbers = tuple(shape), numbers

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        rest = self.shape[len(index):]
        at = 0
        for i, n in zip(index, self.shape):
            assert 0 <= i < n, (index, self.shape)
            at = at * n + i
        size = math.prod(rest)
        return Array(rest, self.numbers[at * size:(at + 1) * size]) if rest else self.numbers[at]

    @staticmethod
    def of_lists(lists):
        """From nested lists, which must all be equally long."""
        shape, numbers = [], lists
        while numbers and isinstance(numbers[0], list):
            assert len({len(inner) for inner in numbers}) == 1, "ragged"
            shape.append(len(numbers[0]))
            numbers = [item for inner in numbers for item in inner]
        return Array([len(lists), *shape], numbers)

    def distance(self, other):
        assert self.shape == other.shape, (self.shape, other.shape)
        return max((abs(a - b) for a, b in zip(self.numbers, other.numbers)), default=0)


def read_safetensors(data):
    """(tensors, metadata). Checks every rule of the format that a writer can break."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    tensors, end = {}, 0
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(tensor) == {"dtype", "shape", "data_offsets"}
        begin, behind = tensor["data_offsets"]
        letter, size = DTYPES[tensor["dtype"]]
        n = math.prod(tensor["shape"])
        assert begin == end and behind - begin == n * size, (name, tensor)
        tensors[name] = Array(tensor["shape"], list(struct.unpack_from(f"<{n}{letter}", body, begin)))
        end = behind
    assert end == len(body), "bytes behind the last tensor"
    return tensors, metadata


def read_npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack_from("<H", data, 8)
    head = ast.literal_eval(data[10:10 + length].decode("latin-1"))
    assert set(head) == {"descr", "fortran_order", "shape"} and not head["fortran_order"]
    assert head["descr"] == "<f4" and (10 + length) % 64 == 0
    n = math.prod(head["shape"])
    assert len(data) == 10 + length + 4 * n
    return Array(head["shape"], list(struct.unpack_from(f"<{n}f", data, 10 + length)))


def _paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def read_png(data):
    """(width, height, rows): rows of (red, green, blue). 8-bit RGB without interlace."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        (crc,) = struct.unpack_from(">I", data, at + 8 + length)
        assert crc == zlib.crc32(kind + body), kind
        chunks.append((kind, body))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, color, rest) == (8, 2, [0, 0, 0])
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    assert len(pixels) == height * (1 + 3 * width)
    rows, above = [], bytes(3 * width)
    for y in range(height):
        begin = y * (1 + 3 * width)
        kind, line = pixels[begin], bytearray(pixels[begin + 1:begin + 1 + 3 * width])
        for i in range(len(line)):
            left = line[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            guess = [0, left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner)][kind]
            line[i] = (line[i] + guess) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), 3)])
        above = bytes(line)
    return width, height, rows
