"""Model directories for tests of many models: the fixture model under other names, and with other
answers.

    make_model(root / "de-fr", "de", "fr", seed=1)

A seed gives every word another weight (final_logits_bias), so that the model still ends its
sentences, but says something else than any other seed does, which shows which model it was.
"""

import ctypes
import json
import os
import pathlib
import random
import shutil
import struct

from serve import MODEL

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer_config.json"
LOGITS_BIAS = "final_logits_bias"


def reword(data, seed, eos):
    """The file's bytes with random biases, but for the end of the sentence."""
    data = bytearray(data)
    header_bytes = struct.unpack_from("<Q", data)[0]
    bias = json.loads(data[8:8 + header_bytes])[LOGITS_BIAS]
    assert bias["dtype"] == "F16", bias
    begin, end = (8 + header_bytes + offset for offset in bias["data_offsets"])
    numbers = random.Random(seed)
    values = [numbers.uniform(-1.5, 1.5) for _ in range((end - begin) // 2)]
    values[eos] = 0
    struct.pack_into(f"<{len(values)}e", data, begin, *values)
    return bytes(data)


def exchange(fresh, place):
    """Two directories change their names at once, as attentiond pull replaces a model."""
    at_cwd, exchanges = -100, 2
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(at_cwd, bytes(fresh), at_cwd, bytes(place), exchanges):
        raise OSError(ctypes.get_errno(), "renameat2")


def make_model(directory, source=None, target=None, seed=None, **settings):
    """source and target: what its tokenizer_config.json says, where they are given. settings: of
    its attentiond.json."""
    directory, origin = pathlib.Path(directory), pathlib.Path(MODEL)
    directory.mkdir(parents=True)
    for name in os.listdir(origin):
        if name != WEIGHTS or seed is None:
            shutil.copyfile(origin / name, directory / name)
    if seed is not None:
        eos = json.loads((origin / "config.json").read_text())["eos_token_id"]
        (directory / WEIGHTS).write_bytes(reword((origin / WEIGHTS).read_bytes(), seed, eos))
    if source is not None:
        config = json.loads((origin / TOKENIZER).read_text())
        config.update(source_lang=source, target_lang=target)
        (directory / TOKENIZER).write_text(json.dumps(config))
    if settings:
        (directory / "attentiond.json").write_text(json.dumps(settings))
    return directory
