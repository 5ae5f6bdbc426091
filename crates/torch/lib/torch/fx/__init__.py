"""torch.fx: a script's functions and modules as graphs of the calls that they make, which can be read, changed and run."""

import builtins
import functools
import inspect
import operator
import sys
import torch
from torch.fx import graph as _graph, node as _node
from torch.fx.graph import Graph, PythonCode
from torch.fx.node import MAGIC, Node, map_aggregate, map_arg
from torch.nn import Module
from torch.overrides import is_tensor_method_or_property


class TraceError(ValueError):
    pass


TraceError.__module__ = "torch.fx.proxy"


class Proxy:
    """What stands for a value while a function is traced."""

    def __init__(self, node, tracer=None):
        self.node, self.tracer = node, tracer

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'Proxy' object has no attribute '{name}'")
        return Attribute(self, name)

    def __iter__(self):
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
                         "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
                         "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors")

    def __bool__(self):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
                           "torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        tracers = []
        map_aggregate((args, kwargs or {}), lambda a: tracers.append(a.tracer) if isinstance(a, Proxy) else a)
        kind = "call_method" if is_tensor_method_or_property(func) else "call_function"
        return tracers[0].create_proxy(kind, func.__name__ if kind == "call_method" else func, args, kwargs or {})


def _operators():
    def make(function, back):
        def forward(self, *others):
            args = (others[0], self) if back else (self, *others)
            return self.tracer.create_proxy("call_function", function, args, {})
        return forward
    for name in (*MAGIC, "abs"):
        function = getattr(operator, name, None) or getattr(operator, name.rstrip("_"))
        method = name.rstrip("_")
        setattr(Proxy, f"__{method}__", make(function, False))
        if MAGIC.get(name, "").count("{}") == 2 and name not in ("eq", "ne", "lt", "gt", "le", "ge", "getitem"):
            setattr(Proxy, f"__r{method}__", make(function, True))
    Proxy.__hash__ = object.__hash__


_operators()


class Attribute(Proxy):
    """`x.name`: an attribute once it is used, a method once it is called."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


_named = []


def _wrap_named():
    """What was wrapped by its name may be defined behind that: it is looked for when something is traced."""
    for names, name in _named:
        names[name] = wrap(names.get(name) or getattr(builtins, name))
    _named.clear()


def wrap(fn_or_name):
    """A function of a script's own that a graph calls as a whole; a decorator, or the name of one of the caller's module."""
    if isinstance(fn_or_name, str):
        _named.append((sys._getframe(1).f_globals, fn_or_name))
        return fn_or_name

    @functools.wraps(fn_or_name)
    def wrapped(*args, **kwargs):
        tracers = []
        map_aggregate((args, kwargs), lambda a: tracers.append(a.tracer) if isinstance(a, Proxy) else a)
        return tracers[0].create_proxy("call_function", wrapped, args, kwargs) if tracers else fn_or_name(*args, **kwargs)
    return wrapped


class Tracer:
    """Traces a module, or a function: modules of torch.nn are single calls."""

    def is_leaf_module(self, m, module_qualified_name):
        return m.__module__.startswith("torch.nn") and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def create_arg(self, a):
        def one(x):
            if isinstance(x, Proxy):
                return x.node
            if isinstance(x, torch.Tensor):
                return self._held(x)
            if isinstance(x, (str, int, float, bool, complex, type(None), type(...), torch.dtype, torch.device, type, Node)) or callable(x):
                return x
            raise NotImplementedError(f"argument of type: {type(x)}")
        return map_aggregate(a, one)

    def _held(self, tensor):
        """The root's tensor by its name; others become attributes."""
        for name, held in (*self.root.named_parameters(), *self.root.named_buffers()):
            if held is tensor:
                return self.create_node("get_attr", name, (), {})
        i = 0
        while hasattr(self.root, f"_tensor_constant{i}") and getattr(self.root, f"_tensor_constant{i}") is not tensor:
            i += 1
        setattr(self.root, f"_tensor_constant{i}", tensor)
        return self.create_node("get_attr", f"_tensor_constant{i}", (), {})

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None):
        return Proxy(self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr), self)

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def _inputs(self, function, concrete_args):
        args, kwargs = [], {}
        for i, p in enumerate(inspect.signature(function).parameters.values()):
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            default = () if star or p.default is p.empty else (p.default,)
            if p.name in (concrete_args or {}):
                value = concrete_args[p.name]
                self._specialised(p.name, value, self.create_proxy("placeholder", p.name + "_1", default, {}))
            else:
                value = self.create_proxy("placeholder", star + p.name, default, {})
                if star == "*":
                    raise NotImplementedError(f"torch.fx: tracing of a function that takes *{p.name}; name its arguments")
                if star:
                    continue
            if p.kind is p.KEYWORD_ONLY:
                kwargs[p.name] = value
            else:
                args.append(value)
        return args, kwargs

    def _specialised(self, name, value, given):
        """A value that is known while tracing has to be the same when the graph runs."""
        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (given, text), {})
        elif isinstance(value, (bool, int, float, str)):
            self.create_proxy("call_function", torch._assert, (given == value, text), {})
        else:
            raise NotImplementedError(f"torch.fx: concrete_args of {type(value).__name__}; numbers, texts and None are there")

    def trace(self, root, concrete_args=None):
        _wrap_named()
        self.root = root if isinstance(root, Module) else Module()
        self.graph = Graph()
        function = root.forward if isinstance(root, Module) else root
        held, parameters = {}, {id(p): n for n, p in self.root.named_parameters()}
        call, get, tracer = Module.__call__, Module.__getattr__, self

        def called(module, *args, **kwargs):
            return tracer.call_module(module, lambda *args, **kwargs: call(module, *args, **kwargs), args, kwargs)

        def got(module, name):
            value = get(module, name)
            if id(value) not in parameters:
                return value
            name = parameters[id(value)]
            if name not in held:
                held[name] = tracer.create_proxy("get_attr", name, (), {})
            return held[name]
        args, kwargs = self._inputs(function, concrete_args)
        Module.__call__, Module.__getattr__ = called, got
        try:
            made = function(*args, **kwargs)
        finally:
            Module.__call__, Module.__getattr__ = call, get
        self.create_node("output", "output", (self.create_arg(made),), {})
        return self.graph


class GraphModule(Module):
    """A module that runs a graph, with the parts of another module that it names."""

    def __new__(cls, root, graph, class_name="GraphModule"):
        name = class_name if class_name != "GraphModule" or not isinstance(root, Module) else type(root).__name__
        return object.__new__(type(name, (cls,), {"__module__": "torch.fx.graph_module"}) if cls is GraphModule else cls)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("call_module", "get_attr"):
                _copy(root, self, node.target)
        self.graph = graph

    graph = property(lambda self: self.__dict__["_graph"])

    @graph.setter
    def graph(self, graph):
        self.__dict__["_graph"] = graph
        graph.owning_module = self

    code = property(lambda self: self.graph.python_code("self").src)

    def recompile(self):
        return self.graph.python_code("self")

    def forward(self, *args, **kwargs):
        return Interpreter(self).run(*args, **kwargs)

    def add_submodule(self, target, m):
        *path, name = target.split(".")
        setattr(_walked(self, path), name, m)
        return True

    def delete_submodule(self, target):
        *path, name = target.split(".")
        delattr(self.get_submodule(".".join(path)), name)
        return True

    def print_readable(self, print_output=True, **kwargs):
        text = f"class {type(self).__name__}(torch.nn.Module):" + self.code.strip("\n").replace("\n", "\n    ").replace("def ", "\n    def ", 1)
        if print_output:
            print(text)
        return text

    def __str__(self):
        return f"{super().__repr__()}\n{self.code}\n# To see more debug info, please use `graph_module.print_readable()`"

    def __deepcopy__(self, memo):
        import copy
        made, values = Graph(), {}
        made.output(made.graph_copy(self.graph, values))
        root = Module()
        root.__dict__ = copy.deepcopy({k: v for k, v in self.__dict__.items() if k != "_graph"}, memo)
        return GraphModule(root, made, type(self).__name__)


def _assert_is_none(value, msg):
    assert value is None, msg


_assert_is_none.__module__ = "torch.fx._symbolic_trace"


def _walked(root, path):
    """The module at a path, whose missing parts are made."""
    for name in path:
        if not hasattr(root, name):
            setattr(root, name, Module())
        root = getattr(root, name)
    return root


def _copy(root, to, target):
    *path, name = target.split(".")
    if isinstance(root, dict):
        value = root[target]
    else:
        value = root
        for atom in target.split("."):
            value = getattr(value, atom)
    into = _walked(to, path)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        into.register_buffer(name, value)
    else:
        setattr(into, name, value)


class Interpreter:
    """Runs a graph node by node; subclasses say what else is done."""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module, self.graph, self.env = module, graph or module.graph, {}

    def run(self, *args, initial_env=None, **kwargs):
        self.env = dict(initial_env or {})
        self.args_iter, self._kwargs = iter(args), kwargs
        last = {}
        for node in self.graph.nodes:
            for used in node._inputs:
                last[used] = node
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
            for used in node._inputs:
                if last[used] is node:
                    self.env.pop(used)

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n):
        get = lambda used: self.env[used]
        return map_arg(n.args, get), map_arg(n.kwargs, get)

    def placeholder(self, target, args, kwargs):
        if target in self._kwargs:
            return self._kwargs[target]
        if target.startswith("*"):
            return {} if target.startswith("**") else tuple(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise TypeError(f"forward() missing 1 required positional argument: '{target}'")

    def fetch_attr(self, target):
        value = self.module
        for atom in target.split("."):
            value = getattr(value, atom)
        return value

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]


def symbolic_trace(root, concrete_args=None):
    """A module that makes the calls which `root` makes of values that are not there yet."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)
