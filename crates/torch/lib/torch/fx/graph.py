"""Graphs: nodes in the order in which they run, and the code that says the same."""

import builtins
import keyword
import re
import torch
from torch.fx.node import MAGIC, Node, map_arg, qualified_name


class PythonCode:
    def __init__(self, src):
        self.src, self.globals = src, {"torch": torch}


class _Inserting:
    def __init__(self, graph, at):
        self._graph, self._at, self._before = graph, at, graph._at
        graph._at = at

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._graph._at = self._before
        return False


class Graph:
    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._nodes, self._names, self.owning_module = [], set(), owning_module
        # Where the next node comes: behind all that are there.
        self._at = None

    nodes = property(lambda self: tuple(self._nodes))

    def _name(self, wanted):
        wanted = re.sub("[^0-9a-zA-Z_]+", "_", wanted) or "_unnamed"
        wanted = "_" + wanted if wanted[0].isdigit() else wanted
        found = re.match(r"(.*)_(\d+)$", wanted)
        base, n = (found.group(1), int(found.group(2))) if found else (wanted, 0)
        name = wanted
        taken = lambda name: name in self._names or keyword.iskeyword(name) or hasattr(builtins, name) or name in ("inf", "nan", "torch", "device")
        while taken(name):
            n += 1
            name = f"{base}_{n}"
        self._names.add(name)
        return name

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        if name is None:
            name = target if isinstance(target, str) else getattr(target, "__name__", "node")
            name = re.sub("([a-z0-9])([A-Z])", r"\1_\2", name).lower() if op == "call_function" else name.replace(".", "_")
            name = name.lstrip("*") if not name.startswith("*") else "_" + name.lstrip("*")
        node = Node(self, self._name(name), op, target, args or (), kwargs or {}, type_expr)
        at = len(self._nodes) if self._at is None else self._at()
        self._nodes.insert(at, node)
        return node

    def placeholder(self, name, type_expr=None, default_value=None):
        return self.create_node("placeholder", name, () if default_value is None else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self):
        return next(n for n in reversed(self._nodes) if n.op == "output")

    def node_copy(self, node, arg_transform=lambda x: x):
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name,
                                node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                made = map_arg(node.args[0], lambda n: val_map[n])
                return (made, node) if return_output_node else made
            val_map[node] = self.node_copy(node, lambda n: val_map[n])

    def inserting_before(self, n=None):
        return _Inserting(self, lambda: 0 if n is None else self._nodes.index(n))

    def inserting_after(self, n=None):
        return _Inserting(self, lambda: len(self._nodes) if n is None else self._nodes.index(n) + 1)

    def _beside(self, node, step):
        at = self._nodes.index(node) + step
        return self._nodes[at] if 0 <= at < len(self._nodes) else None

    def _move(self, node, to, step):
        self._nodes.remove(node)
        self._nodes.insert(self._nodes.index(to) + step, node)

    def erase_node(self, to_erase):
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!")
        to_erase._set((), {})
        self._nodes.remove(to_erase)

    def eliminate_dead_code(self, is_impure_node=None):
        changed = False
        for node in reversed(self.nodes):
            if not (is_impure_node or Node.is_impure)(node) and not node.users and not node.is_impure():
                self.erase_node(node)
                changed = True
        return changed

    def find_nodes(self, *, op, target=None, sort=True):
        return [n for n in self._nodes if n.op == op and (target is None or n.target == target)]

    def lint(self):
        seen = set()
        for node in self._nodes:
            for used in node._inputs:
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                                       f"the graph are topologically ordered\n{self}")
            seen.add(node)

    def __str__(self):
        return "graph():\n    " + "\n    ".join([n.format_node() for n in self._nodes])

    def print_tabular(self):
        rows = [["opcode", "name", "target", "args", "kwargs"]] + [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self._nodes]
        wide = [max([len(row[i]) for row in rows]) for i in range(5)]
        rows.insert(1, ["-" * w for w in wide])
        print("\n".join(["  ".join([cell.ljust(w) for cell, w in zip(row, wide)]).rstrip() if i != 1 else "  ".join(row)
                         for i, row in enumerate(rows)]))

    def python_code(self, root_module="self", **kwargs):
        """`forward()`; a name is let go of where it is used last."""
        last = {}
        for node in self._nodes:
            for used in node._inputs:
                last[used] = node
        names, lines = [], []
        for node in self._nodes:
            if node.op == "placeholder":
                names.append(node.target + (f" = {node.args[0]!r}" if node.args else ""))
                if node.target.lstrip("*") != node.name:
                    lines.append(f"{node.name} = {node.target.lstrip('*')}")
            elif node.op == "output":
                lines.append(f"return {node.args[0]!r}")
            else:
                done = [n.name for n in node._inputs if last[n] is node] + ([] if node.users else [node.name])
                lines.append(f"{node.name} = {_expression(node, root_module)}" + (f";  {' = '.join(done)} = None" if done else ""))
        body = "".join([f"    {line}\n" for line in lines])
        return PythonCode(f"\n\n\ndef forward(self{''.join([', ' + n for n in names])}):\n{body}    ")


def _path(root, target):
    for atom in target.split("."):
        root = f"{root}.{atom}" if atom.isidentifier() else f'getattr({root}, "{atom}")'
    return root


def _expression(node, root):
    args = [repr(a) for a in node.args]
    if node.op == "get_attr":
        return _path(root, node.target)
    if node.op == "call_function":
        name = qualified_name(node.target)
        if name.startswith("operator.") and name[9:] in MAGIC and not node.kwargs:
            return MAGIC[name[9:]].format(*args)
        if name == "builtins.getattr" and str(node.args[1]).isidentifier():
            return f"{args[0]}.{node.args[1]}"
        name = name.removeprefix("builtins.")
    elif node.op == "call_method":
        name = f"{args.pop(0)}.{node.target}"
    else:
        name = _path(root, node.target)
    return f"{name}({', '.join(args + [f'{k} = {v!r}' for k, v in node.kwargs.items()])})"
