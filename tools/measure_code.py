"""Print facts about the source tree as a Markdown table, to compare it before and after a change.

    python tools/measure_code.py [--rev REV ...] [--entry module:function ...]

Each revision of git is a column; without any the working tree is read. What runs from `fit` to the model is counted
from the first entry that exists. Names mean what their module imports or defines, even where a local variable hides it.
"""

import argparse
import ast
import io
import re
import subprocess
import tarfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "src/rulegrove"
ENTRIES = ["rulegrove.estimators.pipeline:fit_source", "rulegrove.estimators._base:BaseRuleEnsemble._fit_table"]
KINDS = ("code", "docstring", "comment", "blank")
LONG, MANY, LARGE = 100, 12, 20  # lines of a function, its parameters, the value of a constant
SELF = ("self", "cls", "super()")
# What a module that would have to change has in its text, by the part that someone adds another one of.
KNOWING = {
    "a solver": r"isinstance\([^)]*(Glmnet|Spgl1|Fpc|Pathbuild)\b|(get|has)attr\((\w+\.)?solver, \"|SOLVERS",
    "a loss": r"loss\w* (==|!=|in) |(==|!=) \"(squared|logistic)\"|\bLOSSES\b",
    "a target": r"\b(is|of)_class(es|ifier)\b|classes_?\b is (not )?None|hasattr\([^)]*\"classes_\"|has_labels|"
    r"isinstance\([^)]*(RuleEnsemble(Classifier|Regressor)|ClassFigures)\b",
    "a Gram of another device": r"\badd_gram\(|_kernels\.\w*gram",
    "an engine": r"isinstance\([^)]*(Local|Dask)Engine\b",
    "an export": r"\bto_onnx\b",
    "a parameter of the trees": r"\bmin_impurity\b",
    "a plot": r"\bCalibrationDisplay\b",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Rows = dict[str, int | str | list[str]]


def define(node: ast.AST, path: str) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield the functions and classes below a node, nested ones too, with their full names."""
    for child in ast.iter_child_nodes(node):
        name = f"{path}.{child.name}" if isinstance(child, Function | ast.ClassDef) else path
        if name != path:
            yield name, child
        yield from define(child, name)


def assigned(tree: ast.Module) -> dict[str, ast.expr | None]:
    """Return the names that a module assigns, with their values."""
    pairs = [(target, node.value) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    pairs += [(node.target, node.value) for node in tree.body if isinstance(node, ast.AnnAssign)]
    return {target.id: value for target, value in pairs if isinstance(target, ast.Name)}


def read_scope(module: str, tree: ast.Module) -> dict[str, str]:
    """Return the full names of what a module imports, inside functions too, or defines."""
    scope = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            path = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            scope |= {alias.asname or alias.name: f"{path}{alias.name}" for alias in node.names}
    own = [node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)]
    return scope | {name: f"{module}.{name}" for name in (*own, *assigned(tree))}


def top(name: str) -> str:
    """Return the package or single module that a full name of ours lies in, empty for those of others."""
    return f"{name}.".split(".")[1] if name.startswith("rulegrove.") else ""


class Code:
    """The modules of a source tree, given as texts by their names, and what the names in them mean."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.trees = {module: ast.parse(text) for module, text in texts.items()}
        self.nodes = [(module, node) for module, tree in self.trees.items() for node in ast.walk(tree)]
        self.scopes = {module: read_scope(module, tree) for module, tree in self.trees.items()}
        found = [(module, *pair) for module, tree in self.trees.items() for pair in define(tree, module)]
        self.homes = {name: module for module, name, _ in found}
        self.functions = {name: node for _, name, node in found if isinstance(node, Function)}
        self.classes = self.homes.keys() - self.functions.keys()
        self.methods: defaultdict[str, list[str]] = defaultdict(list)
        for name, node in self.functions.items():
            self.methods[node.name] += [name] if name.rpartition(".")[0] in self.classes else []

    def resolve(self, name: str) -> str:
        """Follow a full name through the modules that only pass it on."""
        head, _, tail = name.rpartition(".")
        head = head if head in self.trees or not head else self.resolve(head)
        plain = f"{head}.{tail}" if head else tail
        target = self.scopes.get(head, {}).get(tail, plain)
        return plain if target == plain else self.resolve(target)

    def meaning(self, module: str, node: ast.AST) -> str:
        """Return the full name of what a plain or dotted name stands for, empty if that is unknown."""
        if isinstance(node, ast.Attribute):
            base = self.meaning(module, node.value)
            return base and self.resolve(f"{base}.{node.attr}")
        return self.resolve(self.scopes[module].get(node.id, "")) if isinstance(node, ast.Name) else ""


def reach(code: Code, entry: str) -> set[str]:
    """Return the functions that a static call graph by names reaches from an entry.

    Edges are mentions of functions whose names imports resolve, calls of classes (their constructors), mentions of
    methods of `self` (all of that name in the same package, so overrides too) and calls of methods of other values (all
    of that name in the packages that the caller's module imports from). It over-approximates, as a method of NumPy is
    taken for one of ours with its name; yet operators, `with`, loops over objects, properties of other values and
    functions kept in attributes are not seen. Nested functions are part of the outer one.
    """
    seen, waiting = {entry}, [entry]
    while waiting:
        name = waiting.pop()
        called = {node.func for node in ast.walk(code.functions[name]) if isinstance(node, ast.Call)}
        for node in ast.walk(code.functions[name]):
            new = find_meant(code, name, node, node in called) - seen
            seen |= new
            waiting += new
    return seen


def find_meant(code: Code, function: str, node: ast.AST, called: bool) -> set[str]:
    """Return the functions that a name or an attribute inside a function may stand for."""
    home = code.homes[function]
    meaning = code.meaning(home, node)
    names = {meaning, f"{meaning}.__init__", f"{meaning}.__post_init__"} if called else {meaning}
    if names & code.functions.keys() or not isinstance(node, ast.Attribute):
        return names & code.functions.keys()
    is_own = ast.unparse(node.value) in SELF
    near = {top(name) for name in ([] if is_own else code.scopes[home].values())} | {top(home)}
    return {name for name in code.methods.get(node.attr, ()) if (is_own or called) and top(name) in near}


def docstring(node: ast.AST) -> range:
    """Return the lines of the docstring of a node."""
    if not isinstance(node, Function | ast.ClassDef | ast.Module) or ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def count_lines(text: str, tree: ast.Module) -> Counter[str]:
    """Count the lines of a module by kind; the blank lines of a docstring are part of it."""
    kinds = {line: "docstring" for node in ast.walk(tree) for line in docstring(node)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        for line in range(token.start[0], token.end[0] + 1) if token.string.strip() else ():
            kinds.setdefault(line, "comment" if token.type == tokenize.COMMENT else "code")
    return Counter(kinds.get(line, "blank") for line in range(1, text.count("\n") + 1))


def tell_lines(code: Code) -> Rows:
    """Return the rows about lines, by package."""
    packages = sorted({top(module) for module in code.texts if module.count(".") > 1})
    counts: dict[str, Counter[str]] = {one: Counter() for one in ("all", *packages, "single modules")}
    for module, text in code.texts.items():
        for one in ("all", top(module) if top(module) in packages else "single modules"):
            counts[one] += count_lines(text, code.trees[module])
    return {f"lines, {one}: {' / '.join(KINDS)}": " / ".join(str(n[k]) for k in KINDS) for one, n in counts.items()}


def tell_functions(code: Code) -> Rows:
    """Return the rows about functions; neither decorators nor docstrings are part of their lines."""
    lines, wide = {}, {}
    for name, node in code.functions.items():
        lines[name] = (node.end_lineno or 0) - node.lineno + 1 - len(docstring(node))
        wide[name] = len({one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)} - {*SELF})
    many = [f"{name} ({count})" for name, count in wide.items() if count > MANY]
    return {
        "modules": len(code.texts),
        "functions": len(lines),
        "longest function": "{1} ({0} lines)".format(*max((count, name) for name, count in lines.items())),
        f"functions of more than {LONG} lines": [f"{name} ({count})" for name, count in lines.items() if count > LONG],
        f"functions of more than {MANY} parameters": [one for one in many if "__init__" not in one],
        f"constructors of more than {MANY} parameters": [one for one in many if "__init__" in one],
    }


def tell_reach(code: Code, entries: list[str]) -> Rows:
    """Return the row about what runs from `fit` to the model."""
    entry = next((name for name in (one.replace(":", ".") for one in entries) if name in code.functions), "")
    found = reach(code, entry) if entry else set()
    homes = {code.homes[name] for name in found}
    return {"from `fit` to the model": f"{len(found)} functions in {len(homes)} modules from {entry or 'no entry'}"}


def find_switches(code: Code) -> Iterator[str]:
    """Yield the large integer constants of modules that an ordering comparison, `min` or `max` mentions anywhere."""
    used: set[str] = set()
    for module, node in code.nodes:
        match node:
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE(), *_]) | ast.Call(ast.Name("min" | "max")):
                used |= {code.meaning(module, child) for child in ast.walk(node)}
    for module, tree in code.trees.items():
        for name, value in assigned(tree).items():
            text = ast.unparse(value) if value and name.isupper() and f"{module}.{name}" in used else ""
            if re.fullmatch(r"\(*\d[\d (*+<)-]*", text) and eval(text) >= LARGE:
                yield f"{module}.{name}={eval(text)}"


def tell_habits(code: Code) -> Rows:
    """Return the rows about size switches, probes, `Any` and the private names of `estimators` used outside it."""
    counts, private, users = Counter(), set(), defaultdict(set)
    for module, node in code.nodes:
        match node:
            case ast.Call(ast.Name("getattr"), [_, ast.Constant(), *_]) | ast.Call(ast.Name("hasattr")):
                counts[node.func.id] += 1
            case ast.Call(ast.Name("isinstance"), [_, kinds]):
                counts["isinstance"] += any(code.meaning(module, one) in code.classes for one in ast.walk(kinds))
            case ast.Attribute(value, name) if re.match("_[^_]", name):
                if top(module) == "estimators":
                    private |= {name} if ast.unparse(value) in SELF else set()
                elif ast.unparse(value) not in SELF:
                    users[name].add(module)
            case ast.arg(_, note) | ast.AnnAssign(_, note) | ast.FunctionDef(returns=note) if note:
                counts["Any"] += len(re.findall(r"\bAny\b", ast.unparse(note)))
    return {
        f"size switches: compared constants from {LARGE} on": [*find_switches(code)],
        "`getattr` of a constant name": counts["getattr"],
        "`hasattr`": counts["hasattr"],
        "`isinstance` of classes of the package": counts["isinstance"],
        "`Any` in annotations": counts["Any"],
        "modules that use `._model` of `estimators`": len(users["_model"]),
        "modules that use private names of `estimators`": sorted({one for name in private for one in users[name]}),
    }


def tell_knowing(code: Code) -> Rows:
    """Return the rows about modules that know one of a kind, and so would have to change for another one."""
    texts = code.texts.items()
    return {
        f"modules that know of {what}": [module for module, text in texts if re.search(pattern, text)]
        for what, pattern in KNOWING.items()
    }


def read_tree(revision: str | None) -> Code:
    """Read the modules of a revision, or of the working tree."""
    if revision is None:
        files = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in ROOT.glob(f"{FOLDER}/**/*.py")}
    else:
        packed = subprocess.check_output(["git", "archive", revision, FOLDER], cwd=ROOT)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            files = {one.name: archive.extractfile(one).read().decode() for one in archive if one.name.endswith(".py")}
    return Code({name[4:-3].replace("/", ".").removesuffix(".__init__"): text for name, text in sorted(files.items())})


def show(value: int | str | list[str]) -> str:
    """Return a value as a cell; a list with its length first."""
    return (f"{len(value)}: {', '.join(value)}" if isinstance(value, list) else str(value)).replace("rulegrove.", "")


def main() -> None:
    """Print a table of one column a revision."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rev", nargs="+", default=[None], help="revisions of git; the working tree by default")
    parser.add_argument("--entry", nargs="+", default=ENTRIES, help="module:function that fits; the first that exists")
    given = parser.parse_args()
    codes = map(read_tree, given.rev)
    columns = [
        tell_functions(c) | tell_reach(c, given.entry) | tell_habits(c) | tell_knowing(c) | tell_lines(c) for c in codes
    ]
    print("| fact |", *(f"{revision or 'working tree'} |" for revision in given.rev))
    print("|---|" + "---|" * len(columns))
    for label in dict.fromkeys(label for column in columns for label in column):
        print(f"| {label} |", *(f"{show(column.get(label, 'none'))} |" for column in columns))


if __name__ == "__main__":
    main()
