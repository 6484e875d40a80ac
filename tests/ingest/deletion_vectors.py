"""Delta tables with deletion vectors, written as the protocol says, since delta-rs only reads them."""

from __future__ import annotations

import json
import struct
import uuid
import zlib
from pathlib import Path

from deltalake import DeltaTable

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def delete_rows(table: Path, rows: list[int], *, beside: bool = False) -> None:
    """Delete rows of the largest file that the newest version added; the vector is in the log or in its own file."""
    log, version = table / "_delta_log", DeltaTable(table).version()
    lines = (log / f"{version:020}.json").read_text().splitlines()
    adds = [action["add"] for action in map(json.loads, lines) if "add" in action]
    add = max(adds, key=lambda add: json.loads(add["stats"])["numRecords"])
    data = bitmap(rows)
    vector: dict[str, object] = {"sizeInBytes": len(data), "cardinality": len(rows)}
    if beside:
        name = uuid.uuid4()
        whole = b"\x01" + struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
        (table / f"deletion_vector_{name}.bin").write_bytes(whole)
        vector |= {"storageType": "u", "pathOrInlineDv": base85(name.bytes), "offset": 1}
    else:
        vector |= {"storageType": "i", "pathOrInlineDv": base85(data)}
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    remove = {"path": add["path"], "deletionTimestamp": 0, "dataChange": True}
    actions = [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
        {"remove": remove},
        {"add": {**add, "deletionVector": vector}},
    ]
    (log / f"{version + 1:020}.json").write_text("\n".join(map(json.dumps, actions)))


def bitmap(rows: list[int]) -> bytes:
    """Row numbers below 65,536 as one array container in the portable format of Roaring bitmaps."""
    container = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    return struct.pack("<IQI", 1681511377, 1, 0) + container


def base85(data: bytes) -> str:
    """Encode bytes in Z85, which writes four bytes as five digits."""
    text = ""
    for (number,) in struct.iter_unpack(">I", data + b"\0" * (-len(data) % 4)):
        text += "".join(DIGITS[number // 85**place % 85] for place in (4, 3, 2, 1, 0))
    return text
