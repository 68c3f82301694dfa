"""Reads and writes tables in others' formats, for foreign_table.cpp.

ACTION (check, read, write) FORMAT (parquet, mf4, mdf, mat) PATH FOLDER: the table goes through FOLDER, as table.json
and rows of doubles in table.f64, time first. Exit code 3: what was printed is for the user."""
import importlib
import json
import os
import re
import sys

MODULES = {
    "parquet": ("pyarrow", "pip install pyarrow; Debian 12 has no package of it"),
    "mf4": ("asammdf", "pip install asammdf; Debian 12 has no package of it"),
    "mat": ("scipy", "Debian: apt-get install python3-scipy"),
}
MODULES["mdf"] = MODULES["mf4"]


def fail(message):
    print(message)
    sys.exit(3)


def need(name):
    module, remedy = MODULES[name]
    for one in ("numpy", module):
        try:
            importlib.import_module(one)
        except ImportError as error:
            fail(f"needs the Python module {module}, and {sys.executable} cannot import it ({error}): install it "
                 f"({remedy}), or name an interpreter that has it with CONCORD_PYTHON; CSV needs none")


def read_parquet(path):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = pq.read_table(path)
    columns = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            fail(f"has the column '{name}' of type {kind}, which is no number; leave it out, and give times in s")
        if pa.types.is_boolean(kind):
            column = column.cast(pa.int8())
        columns.append(np.asarray(column.cast(pa.float64()).to_numpy(), float))
    units = [(field.metadata or {}).get(b"unit", b"").decode() for field in table.schema]
    return table.column_names, units, columns


def write_parquet(path, header, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq
    fields = [pa.field(name, pa.float64(), metadata={"unit": unit} if unit else None)
              for name, unit in zip(header["names"], header["units"])]
    schema = pa.schema(fields, metadata={"title": header["title"]})
    pq.write_table(pa.table([pa.array(column) for column in rows.T], schema=schema), path)


def read_mdf(path):
    """All numeric channels; where they have times of their own, at all of them: between these lines, of whole
    numbers the last value."""
    import numpy as np
    from asammdf import MDF
    signals = []
    with MDF(path) as mdf:
        for g, group in enumerate(mdf.groups):
            master = mdf.masters_db.get(g)
            for c, channel in enumerate(group.channels):
                if c == master:
                    continue
                signal = mdf.get(group=g, index=c, ignore_invalidation_bits=False)
                values = np.asarray(signal.samples)
                if len(signal.timestamps) and values.ndim == 1 and values.dtype.kind in "fiub":
                    signals.append((channel.name, signal.unit or "", np.asarray(signal.timestamps, float), values))
    if not signals:
        fail("has no channel of numbers over time")
    first = signals[0][2]
    if all(np.array_equal(times, first) for _, _, times, _ in signals):
        times, columns = first, [np.asarray(values, float) for *_, values in signals]
    else:
        times = np.unique(np.concatenate([times for _, _, times, _ in signals]))
        columns = [np.interp(times, own, values) if values.dtype.kind == "f" else
                   np.asarray(values, float)[np.clip(np.searchsorted(own, times, "right") - 1, 0, None)]
                   for _, _, own, values in signals]
    return ["time", *(name for name, *_ in signals)], ["s", *(unit for _, unit, *_ in signals)], [times, *columns]


def write_mdf(path, header, rows):
    from asammdf import MDF, Signal
    times = rows[:, 0].copy()
    signals = [Signal(samples=rows[:, i].copy(), timestamps=times, name=name, unit=unit)
               for i, (name, unit) in enumerate(zip(header["names"], header["units"])) if i > 0]
    with MDF(version="4.10") as mdf:
        mdf.append(signals, comment=header["title"], common_timebase=True)
        mdf.save(path, overwrite=True)


def decoded(text):
    """MATLAB's format 4 has bytes; Modelica's tools put UTF-8 there."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def texts_in(matrix, transposed):
    import numpy as np
    characters = np.atleast_2d(matrix)
    rows = characters.T if transposed else characters
    return [decoded("".join(row).rstrip(" \0")) for row in rows]


def read_mat(path):
    """A trajectory of Dymola or OpenModelica: names in `name`, where each lies in `dataInfo`, values in `data_1`
    (constants) and `data_2`; in "binTrans" all of them transposed."""
    import numpy as np
    from scipy.io import loadmat
    try:
        content = loadmat(path, chars_as_strings=False)
        kind = texts_in(content["Aclass"], False)
        if kind[:2] != ["Atrajectory", "1.1"]:
            fail(f"is no trajectory of Modelica but {' '.join(kind)}; export it as CSV")
        transposed = kind[3] == "binTrans"
        names = texts_in(content["name"], transposed)
        described = texts_in(content["description"], transposed)
        info = content["dataInfo"] if transposed else content["dataInfo"].T
        blocks = {int(name[5:]): (value if transposed else value.T)
                  for name, value in content.items() if re.fullmatch(r"data_\d+", name)}
    except (KeyError, IndexError):
        fail("is no trajectory of Modelica: it lacks Aclass, name, dataInfo or data_2; export it as CSV")
    except NotImplementedError:
        fail("is of MATLAB's format 7.3, no trajectory of Modelica; export it as CSV")
    longest = max(blocks, key=lambda block: blocks[block].shape[1])
    times = np.asarray(blocks[longest][0], float)
    columns = []
    for block, place in zip(info[0], info[1]):
        row = abs(int(place)) - 1
        values = np.asarray(blocks[int(block) or longest][row], float) * (1 if place > 0 else -1)
        if len(values) != len(times):
            if np.any(values != values[0]):
                fail(f"has values over other times than data_{longest}, of '{names[len(columns)]}'; export it as CSV")
            values = np.full(len(times), values[0])
        columns.append(values)
    units = [match[1] if (match := re.search(r"\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\s*$", text)) else "" for text in described]
    return names, units, columns


def write_mat(path, header, rows):
    """As Dymola and OpenModelica write "binTrans": texts and tables transposed, time in the first row of each."""
    import numpy as np
    from scipy.io import savemat

    def texts(lines, transposed):
        encoded = [line.encode().decode("latin-1") for line in lines]
        width = max(1, *map(len, encoded))
        encoded = [line.ljust(width) for line in encoded]
        return np.array(["".join(row) for row in zip(*encoded)] if transposed else encoded)
    names = header["names"]
    count = len(names)
    described = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, header["units"])]
    described[0] = "Simulation time [s]"
    info = np.array([[0] + [2] * (count - 1), range(1, count + 1), [0] * count, [-1] * count], np.int32)
    savemat(path, {"Aclass": texts(["Atrajectory", "1.1", "", "binTrans"], False), "name": texts(names, True),
                   "description": texts(described, True), "dataInfo": info,
                   "data_1": np.array([[rows[0, 0], rows[-1, 0]]]), "data_2": rows.T}, format="4", appendmat=False)


READERS = {"parquet": read_parquet, "mf4": read_mdf, "mdf": read_mdf, "mat": read_mat}
WRITERS = {"parquet": write_parquet, "mf4": write_mdf, "mdf": write_mdf, "mat": write_mat}


def main(action, kind, path, folder):
    need(kind)
    import numpy as np
    head, rows = os.path.join(folder, "table.json"), os.path.join(folder, "table.f64")
    if action == "read":
        names, units, columns = READERS[kind](path)
        np.column_stack(columns).astype("<f8").tofile(rows)
        with open(head, "w", encoding="utf-8") as file:
            json.dump({"names": list(names), "units": list(units), "rows": len(columns[0])}, file)
    elif action == "write":
        with open(head, encoding="utf-8") as file:
            header = json.load(file)
        header["names"].insert(0, "time")
        header["units"].insert(0, "s")
        unfinished = f"{path}.unfinished.{'mf4' if kind == 'mdf' else kind}"
        try:
            WRITERS[kind](unfinished, header, np.fromfile(rows, "<f8").reshape(-1, len(header["names"])))
            os.replace(unfinished, path)
        except OSError as error:
            fail(f"cannot be written: {error.strerror or error}")
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)


if __name__ == "__main__":
    main(*sys.argv[1:])
