"""Runs the programs in crates/wengert-core/tests/data/language with CPython and NumPy.

For every function of every file it makes arguments from the names of the parameters and writes
what the function returns to `expected.json` beside the files. The Rust test `language_arrays` compares.

    python3 scripts/reference_language.py
"""

import copy
import inspect
import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "crates/wengert-core/tests/data/language"

# Numbers without structure, so that no two paths give the same result by chance.
ARGUMENTS = {
    "a": {"matrix": [[0.31, 0.72, 0.15], [0.94, 0.47, 0.63]], "scalar": 0.7},
    "b": {"matrix": [[0.21, 0.55], [0.38, 0.91], [0.77, 0.12]], "scalar": 0.3},
    "x": {"vector": [0.35, 0.82, 0.57, 0.13, 0.96], "scalar": 0.6},
    "y": {"vector": [0.44, 0.29, 0.71, 0.66, 0.18], "scalar": 1.7},
    "v": {"scalar": 0.45},
    "w": {"matrix": [[0.3, -0.2], [0.1, 0.4]]},
    "limit": {"scalar": 1.5},
    "flag": {"scalar": 1.0},
    "k": {"scalar": 2.0},
    "n": {"integer": 4},
    "m": {"integer": 6},
}

# Where the name does not tell: the shapes by function.
SHAPES = {
    "axpy": [0.7, "x", "y"],
    "mixed": ["x", 4],
    "matrix": ["a", [0.5, 0.25, 0.75]],
    "products": ["a", "b"],
    "reductions": ["x"],
    "by_axis": ["a"],
    "centred": ["a"],
    "outer_sum": ["x", [0.5, 0.25]],
    "comparisons": ["x", "y"],
    "masks": ["x"],
    "shapes": ["a"],
    "joins": ["x", "y"],
    "makes": [4, 0.45],
    "sorted_things": ["x", 0.45],
    "norms": ["x", "a"],
    "sums_of_products": ["a", "b"],
    "elementwise": ["x"],
    "integers": [5],
    "floats_with_remainder": [7.3, 2.1],
    "bits": [22, 13],
    "powers": [1.3, 2.4, 5],
    "shared": ["x"],
    "copied": ["x"],
    "slice_is_a_view": ["x", 0.45],
    "view_of_a_view": ["x", 0.45],
    "row_is_a_view": ["a", 0.45],
    "column": ["a", 0.45],
    "transposed": [[[0.3, 0.6], [0.9, 0.2]], 0.45],
    "slices": ["x"],
    "slice_assignment": ["x", [0.1, 0.2]],
    "overlapping": ["x"],
    "block": [[[0.31, 0.72, 0.15], [0.94, 0.47, 0.63], [0.22, 0.58, 0.87]], 0.45],
    "written_by_a_function": ["x", 0.45],
    "returned_view": ["x", 0.45],
    "swapped": ["x", 3],
    "old_and_new": ["x", 3],
    "keeps_the_last": ["x", 3],
    "either": ["x", "y", -1.0],
    "chosen": ["x", "y", 1.0],
    "updated_in_place": ["x", 3],
    "reshaped_and_read": ["a"],
    "ravelled_then_rebound": [[0.3, 0.6, 0.9, 0.2], 0.45],
    "nested_rows": ["a"],
    "carried_row": ["a"],
    "iterated_while_written": ["x", 0.45],
    "factor_with_effect": ["x", 0.45],
    "iterated_while_rebound": ["x"],
    "written_then_continued": ["x", 0.45],
    "written_onto_itself": ["x"],
    "list_slices": [0.45],
    "picked": ["x", [2, 0, 1]],
    "until": [3.0],
    "diagonal_read": [[[0.3, 0.6], [0.9, 0.2]], 0.45],
    "each": ["x"],
    "numbered": ["x"],
    "paired": ["x", "y"],
    "backwards": ["x", 5],
    "early": ["x", 1.5],
    "early_array": ["x", 1.5],
    "skips": ["x"],
    "inner": [0.6, 0.7],
    "passed": [0.6],
    "tuples": [0.6],
    "swaps": [0.7, 0.3],
    "lists": [0.6, 5],
    "layers": [[0.5, 0.25], "w", [[0.7, 0.1], [-0.3, 0.2]]],
    "kinds": [5],
    "nested_breaks": [0.6, 5],
    "chained": [0.6, 1.7],
    "defaults": [0.6, 2.0, 3],
    "asserted": [0.6],
    "grows": [0.6, 3],
    "unpacked": ["a"],
    "rebound_inside": ["x", 1.5],
    "named_like_another": [0.6],
    "apply": None,
    "caller_of_apply": [0.6],
    "onto_itself": ["x"],
    "transposed_onto_itself": ["w"],
    "remainders": ["x", 0.45],
    "row_of_one_side": ["w", 2],
    "rebound_after_a_return": ["x", 0.45],
    "made_on_one_side": ["x", 0.45],
    "halved": [0.6, 3],
    "of_both_kinds": [0.6],
    "power": [1.2, 11],
    "factorial": [6],
    "fibonacci": [0.6, 5],
    "even": [0.6, 4],
    "odd": [0.6, 4],
    "fill": ["x", 0, 5, 0.45],
    "divide_and_conquer": ["x", 0.45],
    "merged": ["x"],
    "list_parameter": ["x", [2, 0, 1]],
    "list_beside_an_array": ["x", "y"],
    "list_of_lists": ["a", 0.45],
    "list_slice_of_lists": ["a"],
    "list_through_recursion": ["x", 3],
    "list_copied": ["x", 0.45],
    "sorted_list": ["x"],
    "operators_by_name": ["x", "y"],
    "products_of_other_kinds": ["a", "b", "x", "y"],
    "triangles": ["a", 4],
    "medians": ["a", "x"],
    "several_axes": ["a"],
    "clipped_on_one_side": ["x", 4],
    "picked_one_by_one": ["a", [2, 1], 2],
    "picked_along": ["a", [2, 0, 1, 2]],
    "zipped_tuples": ["x", "y"],
    "logarithms_to_a_base": [0.6, 1.7],
    "numbers_from_text": [0.6],
    "computed_defaults": [0.6, 0.02, 1.5, 4, 2.0],
    "with_defaults": [0.6],
    "set_before_break": [1.7],
    "set_at_each_break": [0.9, 1.7],
    "set_in_nested_branches": [0.6, 1.5],
    "loops_inside_each_other": [1.7],
    "one_name_in_both_loops": [3.7],
}


def argument(spec):
    if isinstance(spec, str):
        kinds = ARGUMENTS[spec]
        return next(kinds[k] for k in ("matrix", "vector", "scalar") if k in kinds)
    return spec


def python_argument(value, param):
    """Several numbers are an array, unless a list is declared."""
    if not isinstance(value, list):
        return value
    declared_list = param.annotation is list or getattr(param.annotation, "__origin__", None) is list
    return copy.deepcopy(value) if declared_list else np.array(value)


def plain(value):
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def main():
    records = []
    for path in sorted(FOLDER.glob("*.py")):
        scope = {}
        exec(compile(path.read_text(), path.name, "exec"), scope)
        for name, function in scope.items():
            if not inspect.isfunction(function):
                continue
            if SHAPES[name] is None:
                continue  # It takes a function.
            args = [argument(spec) for spec in SHAPES[name]]
            params = inspect.signature(function).parameters.values()
            given = [python_argument(a, p) for a, p in zip(args, params)]
            value = function(*given)
            results = list(value) if isinstance(value, tuple) else [value]
            records.append(
                {"file": path.name, "function": name, "args": args, "results": [plain(r) for r in results]}
            )
    lines = ",\n".join(json.dumps(r) for r in records)
    (FOLDER / "expected.json").write_text("[\n" + lines + "\n]\n")
    print(f"{len(records)} calls")


main()
