"""Lines of the public benchmark's results, made by hand."""

from benchmarks.run import FIELDS


def line(method, problem="pima", *, group="sets", repetition=0, fold=0, status="ok", n_classes=2, **measured):
    """Return a line as it is read from the file: texts, empty where nothing was measured."""
    known = {
        "group": group,
        "problem": problem,
        "method": method,
        "repetition": repetition,
        "fold": fold if status == "ok" else "",
        "status": status,
        "n_classes": n_classes,
        **measured,
    }
    return {field: str(known.get(field, "")) for field in FIELDS}


def folds(method, problem="pima", *, errors, repetition=0, **measured):
    """Return a line for each error, one a fold."""
    return [
        line(method, problem, repetition=repetition, fold=fold, error=error, **measured)
        for fold, error in enumerate(errors)
    ]
