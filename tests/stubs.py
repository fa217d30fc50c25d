"""Writes the stub of every .pyx beside it: `make stubs`.

Names, parameters, defaults and C types are those of the source. What C does not say, such as the
items of a list, is said in the stub itself, and kept when it is written again; where nothing is
said yet, there is `Any`, to be replaced by hand.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from Cython.CodeWriter import ExpressionWriter
from Cython.Compiler import Errors, Nodes
from Cython.Compiler.Main import CompilationOptions, Context, default_options
from Cython.Compiler.Scanning import FileSourceDescriptor

ROOT = Path(__file__).parent.parent
INTEGERS = "char short int long Py_ssize_t size_t"
TYPES = {
    "bint": "bool",
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(INTEGERS.split(), "int"),
    **{f"{sign}int{bits}_t": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{name: name for name in ("str", "bytes")},
}
# Of no use to those who call a class, or known of every object.
HIDDEN_BASES = {"BufferOwner"}
SPECIAL = {"__init__", "__call__", "__contains__", "__eq__", "__getitem__", "__iter__", "__len__"}
IMPORTS = {"Any": "from typing import Any"}


def source_tree(path: Path) -> Iterator[Any]:
    """The statements of a .pyx or .pxd file."""
    Errors.init_thread()
    context = Context.from_options(CompilationOptions(default_options, language_level=3))
    is_pxd = path.suffix == ".pxd"
    scope = context.find_submodule(path.stem)
    source = FileSourceDescriptor(str(path))
    yield from statements(context.parse(source, scope, is_pxd, path.stem).body)


def statements(node: Any) -> Iterator[Any]:
    for each in getattr(node, "stats", [node]):
        if isinstance(each, (Nodes.StatListNode, Nodes.CDefExternNode)):
            yield from statements(each.body if hasattr(each, "body") else each)
        else:
            yield each


def text_of(node: Any) -> str:
    if node.is_sequence_constructor and len(node.args) == 1:
        # Which Cython writes without its comma.
        return f"({text_of(node.args[0])},)"
    return str(ExpressionWriter().write(node))


class Stub:
    """Annotations of a stub, by the names of what they are of."""

    def __init__(self, text: str) -> None:
        self.types: dict[str, str] = {}
        self.classes: dict[str, str] = {}
        # Generic bases of classes, by their names.
        self.bases: dict[str, dict[str, str]] = {}
        self.declared: dict[str, str] = {}
        self.imports: dict[str, str] = {}
        name = ""
        for node in ast.parse(text).body:
            if isinstance(node, ast.Expr):
                # The docstring of a constant.
                self.declared[name] += f"\n{ast.unparse(node)}"
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    line = type(node)(**{**vars(node), "names": [alias]})
                    self.imports[alias.asname or alias.name] = ast.unparse(line)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = ast.unparse(target)
                self.declared[name] = ast.unparse(node)
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = ast.unparse(node)
                self.bases[node.name] = {
                    ast.unparse(base.value): ast.unparse(base)
                    for base in node.bases
                    if isinstance(base, ast.Subscript)
                }
                for each in node.body:
                    self._take(each, f"{node.name}.")
            else:
                self._take(node, "")

    def _take(self, node: ast.stmt, owner: str) -> None:
        if isinstance(node, ast.AnnAssign):
            self.types[owner + ast.unparse(node.target)] = ast.unparse(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            name = owner + node.name
            if node.returns is not None:
                self.types.setdefault(name, ast.unparse(node.returns))
            args = node.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            for each in every:
                if each is not None and each.annotation is not None:
                    self.types[f"{name}({each.arg})"] = ast.unparse(each.annotation)


class Writer:
    """The stub of one module."""

    def __init__(self, path: Path) -> None:
        old = path.with_suffix(".pyi")
        self.old = Stub(old.read_text("utf-8") if old.exists() else "")
        self.statements = list(source_tree(path))
        pxd = path.with_suffix(".pxd")
        self.header = list(source_tree(pxd)) if pxd.exists() else []
        self.imports = dict(IMPORTS)
        for node in (*self.header, *self.statements):
            if isinstance(node, Nodes.FromCImportStatNode):
                for _, name, other, *_ in node.imported_names:
                    shown = name if other is None else f"{name} as {other}"
                    self.imports[other or name] = f"from {node.module_name} import {shown}"
        self.imports |= self.old.imports
        self.own = {
            getattr(node, "class_name", getattr(node, "name", None))
            for node in (*self.header, *self.statements)
            if isinstance(node, (Nodes.CClassDefNode, Nodes.PyClassDefNode))
        }

    def text(self) -> str:
        """The stub, not formatted yet."""
        assigned = {
            node.lhs.name
            for node in self.statements
            if isinstance(node, Nodes.SingleAssignmentNode) and node.lhs.is_name
        }
        lines = [
            line for name, line in self.old.declared.items() if " = " in line or name in assigned
        ]
        for node in self.statements:
            if isinstance(node, Nodes.PyClassDefNode) and not node.name.startswith("_"):
                lines.append(self.old.classes.get(node.name, f"class {node.name}: ..."))
            elif isinstance(node, Nodes.CClassDefNode) and not node.class_name.startswith("_"):
                lines += self.extension_class(node)
            elif is_function(node):
                lines += self.function(node, "")
        body = "\n".join(lines)
        used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
        imports = "\n".join(self.imports[name] for name in sorted(used & {*self.imports}))
        return f"{imports}\n\n{body}\n"

    def extension_class(self, node: Any) -> Iterator[str]:
        name = node.class_name
        declared = [
            each
            for each in self.header
            if isinstance(each, Nodes.CClassDefNode) and each.class_name == name
        ]
        bases = [text_of(base) for each in (node, *declared) for base in each.bases.args]
        generic = self.old.bases.get(name, {})
        shown = [generic.get(base, base) for base in sorted({*bases} - HIDDEN_BASES)]
        shown += [generic["Generic"]] if "Generic" in generic else []
        yield f"class {name}({', '.join(shown)}):" if shown else f"class {name}:"
        inside = [
            each
            for one in (*declared, node)
            if one.body is not None
            for each in statements(one.body)
        ]
        # What is called first comes first.
        inside.sort(key=lambda each: getattr(each, "name", "") != "__init__")
        lines = [line for each in inside for line in self.member(each, name)]
        yield from (f"    {line}" for line in lines or ["..."])

    def member(self, each: Any, owner: str) -> Iterator[str]:
        if isinstance(each, Nodes.CVarDefNode) and each.visibility in ("readonly", "public"):
            yield from self.attributes(each, owner)
        elif is_function(each):
            yield from self.function(each, owner)
        elif isinstance(each, Nodes.SingleAssignmentNode) and is_public(each.lhs.name):
            kind = self.old.types.get(f"{owner}.{each.lhs.name}", "Any")
            yield f"{each.lhs.name}: {kind}"

    def attributes(self, node: Any, owner: str) -> Iterator[str]:
        for declarator in node.declarators:
            kind = self.type_of(f"{owner}.{declarator.name}", node.base_type, or_none=False)
            if node.visibility == "public":
                yield f"{declarator.name}: {kind}"
            else:
                yield from ("@property", f"def {declarator.name}(self) -> {kind}: ...")

    def function(self, node: Any, owner: str) -> Iterator[str]:
        is_c = isinstance(node, Nodes.CFuncDefNode)
        name = node.declarator.base.name if is_c else node.name
        full = f"{owner}.{name}" if owner else name
        for decorator in node.decorators or ():
            yield f"@{text_of(decorator.decorator)}"
        args = node.declarator.args if is_c else node.args
        parameters = list(self.parameters(node, args, full))
        returns = self.returns(node, full)
        yield f"def {name}({', '.join(parameters)}) -> {returns}: ..."

    def parameters(self, node: Any, args: Iterable[Any], full: str) -> Iterator[str]:
        star, stars = getattr(node, "star_arg", None), getattr(node, "starstar_arg", None)
        has_star = False
        for number, each in enumerate(args):
            name = each.declarator.name or each.base_type.name
            if each.kw_only and not has_star:
                yield f"*{self.variable(star, full)}" if star else "*"
                has_star = True
            kept = self.old.types.get(f"{full}({name})")
            if number == 0 and name in ("self", "cls"):
                yield f"{name}: {kept}" if kept else name
                continue
            default = "" if each.default is None else text_of(each.default)
            or_none = default == "None" or each.or_none
            kind = self.type_of(f"{full}({name})", each.base_type, or_none=or_none)
            yield f"{name}: {kind}" + (f" = {shown_default(default)}" if default else "")
        if star and not has_star:
            yield f"*{self.variable(star, full)}"
        if stars:
            yield f"**{self.variable(stars, full)}"

    def variable(self, node: Any, full: str) -> str:
        return f"{node.name}: {self.old.types.get(f'{full}({node.name})', 'Any')}"

    def returns(self, node: Any, full: str) -> str:
        if node.decorators and text_of(node.decorators[0].decorator).endswith(".setter"):
            return "None"
        if isinstance(node, Nodes.CFuncDefNode):
            return self.type_of(full, node.base_type, or_none=False)
        fixed = {"__init__": "None", "__len__": "int", "__contains__": "bool", "__eq__": "bool"}
        return fixed.get(node.name) or self.old.types.get(full, "Any")

    def type_of(self, full: str, base: Any, *, or_none: bool) -> str:
        """The Python type of what C declares; what is said already, where that says no more."""
        kept = self.old.types.get(full)
        name = getattr(base, "name", None)
        found = TYPES.get(name) or (name if name in self.own or name in self.imports else None)
        if found is None or (kept is not None and found not in TYPES.values()):
            return kept or "Any"
        return f"{found} | None" if or_none else found


def is_public(name: str) -> bool:
    return name in SPECIAL or not name.startswith("_")


def is_function(node: Any) -> bool:
    """True if a statement defines what Python can call."""
    if isinstance(node, Nodes.CFuncDefNode):
        return bool(node.overridable)
    return isinstance(node, Nodes.DefNode) and is_public(node.name)


def shown_default(text: str) -> str:
    """The text of a default: a literal as it is, and of anything else that there is one."""
    try:
        ast.literal_eval(text)
    except ValueError:
        return "..."
    return text


def write_stubs(folder: Path) -> list[Path]:
    """Write all stubs into a folder, formatted, at their places in the repository."""
    written = []
    for path in sorted(ROOT.glob("spacy_structreg/**/*.pyx")):
        target = folder / path.relative_to(ROOT).with_suffix(".pyi")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = Writer(path).text()
        target.write_text(text, encoding="utf-8")
        written.append(target)
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(ROOT / "pyproject.toml"), "--quiet"]
    subprocess.run([*ruff, "check", "--fix-only", "--select", "I", *config, *written], check=True)
    subprocess.run([*ruff, "format", *config, *written], check=True)
    return written


if __name__ == "__main__":
    write_stubs(ROOT)
