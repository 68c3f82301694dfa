"""A run that records all it can leaves a file with exactly what the format page describes."""
import re
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from concord_runs import ROOT, TWO_MASS, run_here

PAGE = ROOT / "src" / "record" / "FORMAT.md"
SCALES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}  # HDF5's own, of dimension scales
TYPES = {"f64": np.float64, "i32": np.int32, "i64": np.int64}


def described():
    """{"/outputs/values": "f64[T, n_out]", "/time@unit": "str", ...} of the page's table."""
    result = {}
    for names, types in re.findall(r"^\| (`/.*?) \| (.*?) \|.*\|$", PAGE.read_text(), re.M):
        words, types = re.findall(r"`(.*?)`", names), types.split(", attribute `unit`")
        found = re.findall(r"(?:str|f64|i32|i64)(?:\[[^\]]*\])?", types[0])
        if "attribute" in names:
            keys = [f"{words[0]}@{name}" for name in words[1:]]
        else:
            group = words[0].rsplit("/", 1)[0]
            keys = [name if name.startswith("/") else f"{group}/{name}" for name in words]
        if len(types) > 1:
            keys, found = [*keys, f"{words[0]}@unit"], [*found, "str"]
        result |= dict(zip(keys, found if len(found) == len(keys) else found * len(keys)))
    return result


def is_of(type_name, dtype):
    if type_name == "str":
        text = h5py.check_string_dtype(dtype)
        return text is not None and (text.encoding, text.length) == ("utf-8", None)
    return dtype == TYPES[type_name]


class EveryRecord(unittest.TestCase):
    SLOPES = {f"{place}/{kind}/derivatives" for place in ("", "/events/left")
              for kind in ("outputs", "states")}  # of implicit methods at communication points

    def check(self, file, page, method, grid):
        page = dict(page)
        if method == "jfm":
            page = {name: of for name, of in page.items() if "/balance" not in name}
        if method != "jfm" or grid:
            page = {name: of for name, of in page.items() if name not in self.SLOPES}
        if not grid:
            self.assertEqual(len(file["steps/size"]), len(file["time"]) - 1)
            page = {name: of for name, of in page.items()
                    if name != "/steps/time" and not name.startswith("/events/right")}
        if "parts" not in file:
            page = {name: of for name, of in page.items() if not name.startswith("/parts")}
        if "texts" not in file:
            page = {name: of for name, of in page.items() if not name.startswith(("/texts", "/parts/texts"))}
        found = {f"/@{name}": file.attrs.get_id(name) for name in file.attrs}
        file.visititems(lambda name, item: found.update(
            {f"/{name}@{key}": item.attrs.get_id(key) for key in set(item.attrs) - SCALES}))
        file.visititems(lambda name, item: found.update({f"/{name}": item})
                        if isinstance(item, h5py.Dataset) else None)
        self.assertEqual(set(found), set(page))
        sizes = {"4": 4, "T": len(file["time"]), "T-1": len(file["steps/size"]),
                 "E": len(file["events/time"]), "K": len(file["subsystems/name"]),
                 "F": len(file["files/name"]), "P": int(file.attrs["ranks"]), "R": 1,
                 "Q": len(file.get("parts/name", ())), "L": len(file.get("network/output", ()))}
        for letter, group in (("n_out", "outputs"), ("n_in", "inputs"), ("n_st", "states"),
                              ("n_c", "balance")):
            if group in file:
                sizes[letter] = len(file[f"{group}/names"])
        for name, type_text in page.items():
            element, _, extents = type_text.rstrip("]").partition("[")
            shape = tuple(sizes[extent] for extent in extents.split(", ")) if extents else ()
            self.assertEqual(found[name].shape, shape, name)
            self.assertTrue(is_of(element, found[name].dtype), name)

    def test_file_is_as_the_page_says(self):
        page = described()
        self.assertGreater(len(page), 40)
        for ranks, method, options in ((1, "jacobi", ()), (2, "jacobi", ()), (2, "jfm", ()),
                                       (2, "jfm", ("-cosim_output_interval", 3e-4)),
                                       (2, "jacobi", ("-cosim_record_split", 4e-4))):
            record = "outputs,inputs,states,polynomials,balance"
            grid = "-cosim_output_interval" in options
            with self.subTest(ranks=ranks, method=method, options=options), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "all.h5"
                run = run_here(TWO_MASS, "-cosim_type", method, "-cosim_step", 1e-3, "-cosim_stop", 0.3,
                               "-cosim_record",
                               record.replace(",balance", "") if method == "jfm" else record,
                               *options, "-cosim_output", path, ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                with h5py.File(path, "r") as file:
                    self.assertEqual("parts" in file, "-cosim_record_split" in options)
                    self.check(file, page, method, grid)


if __name__ == "__main__":
    unittest.main()
