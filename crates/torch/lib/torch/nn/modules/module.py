"""The base of all modules."""

from collections import OrderedDict, namedtuple
from torch import _C, _place
from torch._C import Tensor
from torch.autograd.function import _watched_inputs, _watched_outputs
from torch.nn.parameter import Parameter, Buffer
import itertools


class _Incompatible(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class _Handle:
    def __init__(self, hooks, key):
        self._hooks, self.id = hooks, key

    def remove(self):
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


_ids = itertools.count()


def _indent(text, spaces):
    lines = text.split("\n")
    return "\n".join([lines[0]] + [" " * spaces + line for line in lines[1:]])


class Module:
    training = True

    def __init__(self, *args, **kwargs):
        d = self.__dict__
        d["training"] = True
        d["_parameters"] = {}
        d["_buffers"] = {}
        d["_non_persistent_buffers_set"] = set()
        d["_modules"] = {}
        d["_forward_hooks"] = {}
        d["_forward_pre_hooks"] = {}
        d["_backward_hooks"] = {}
        d["_backward_pre_hooks"] = {}

    def forward(self, *args):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):
        d = self.__dict__
        if not d["_forward_hooks"] and not d["_forward_pre_hooks"] and not d["_backward_hooks"] and not d["_backward_pre_hooks"]:
            return self.forward(*args, **kwargs)
        for hook, with_kwargs in list(d["_forward_pre_hooks"].values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None:
                if with_kwargs:
                    args, kwargs = changed
                else:
                    args = changed if isinstance(changed, tuple) else (changed,)
        watched = d["_backward_hooks"] or d["_backward_pre_hooks"]
        if watched:
            seen, args = _watched_inputs(self, args)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(d["_forward_hooks"].values()):
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        return _watched_outputs(seen, result) if watched else result

    def __getattr__(self, name):
        d = self.__dict__
        if "_parameters" in d:
            if name in d["_parameters"]:
                return d["_parameters"][name]
            if name in d["_modules"]:
                return d["_modules"][name]
            if name in d["_buffers"]:
                return d["_buffers"][name]
            parametrized = d["_modules"].get("parametrizations")
            if parametrized is not None and name in parametrized:
                return parametrized[name]()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        d = self.__dict__
        parameters = d.get("_parameters")
        if isinstance(value, Parameter) and not self._is_parametrized(name):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_parameters")
            parameters[name] = value
        elif parameters is not None and self._is_parametrized(name):
            d["_modules"]["parametrizations"][name].right_inverse(value)
        elif isinstance(value, Module):
            if parameters is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            d["_modules"][name] = value
        elif parameters is not None and name in parameters:
            if value is not None:
                kind = type(value).__name__
                kind = "torch.FloatTensor" if isinstance(value, Tensor) else kind
                raise TypeError(f"cannot assign '{kind}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            parameters[name] = None
        elif parameters is not None and name in d["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{type(value).__name__}' as child module '{name}' (torch.nn.Module or None expected)")
            d["_modules"][name] = None
        elif parameters is not None and (name in d["_buffers"] or isinstance(value, Buffer)):
            d["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def _is_parametrized(self, name):
        found = self.__dict__.get("_modules", {}).get("parametrizations")
        return found is not None and name in found

    def _forget(self, name, kept):
        """A name is in one table only; in the one where it stays it keeps its place."""
        d = self.__dict__
        d.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != kept and name in d[kind]:
                del d[kind][name]

    def __dir__(self):
        d = self.__dict__
        return sorted(set(dir(type(self))) | set(d) | set(d["_parameters"]) | set(d["_modules"]) | set(d["_buffers"]))

    def register_parameter(self, name, param):
        if "." in name:
            raise KeyError('parameter name can\'t contain "."')
        if param is None:
            self._parameters[name] = None
        else:
            setattr(self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        if name in self.__dict__:
            raise KeyError(f"attribute '{name}' already exists")
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        key = next(_ids)
        self._forward_hooks[key] = (hook, with_kwargs)
        return _Handle(self._forward_hooks, key)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        key = next(_ids)
        self._forward_pre_hooks[key] = (hook, with_kwargs)
        return _Handle(self._forward_pre_hooks, key)

    def register_full_backward_hook(self, hook, prepend=False):
        key = next(_ids)
        self._backward_hooks[key] = hook
        return _Handle(self._backward_hooks, key)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook, prepend=False):
        key = next(_ids)
        self._backward_pre_hooks[key] = hook
        return _Handle(self._backward_pre_hooks, key)

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def _named(self, kind, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in module.__dict__[kind].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, value in self._named("_parameters", "", recurse):
            yield value

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, value in self._named("_buffers", "", recurse):
            yield value

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        out = OrderedDict() if destination is None else destination
        for name, value in self._parameters.items():
            if value is not None:
                out[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                out[prefix + name] = value if keep_vars else value.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=out, prefix=prefix + name + ".", keep_vars=keep_vars)
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict(keep_vars=True)
        missing = [key for key in own if key not in state_dict]
        unexpected = [key for key in state_dict if key not in own]
        errors = []
        for key, value in own.items():
            if key in state_dict:
                given = state_dict[key]
                if tuple(given.shape) != tuple(value.shape):
                    errors.append(
                        f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                        f"the shape in current model is {value.shape}."
                    )
                else:
                    value.detach().copy_(given.detach())
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join([f'"{k}"' for k in unexpected]) + ". ")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join([f'"{k}"' for k in missing]) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _Incompatible(missing, unexpected)

    def _apply(self, fn):
        for module in self.modules():
            for value in module._parameters.values():
                if value is not None:
                    made = fn(value.detach())
                    if made.dtype != value.dtype:
                        value.data = made
            for name, value in module._buffers.items():
                if value is not None:
                    module._buffers[name] = fn(value)
        return self

    def to(self, *args, **kwargs):
        dtype = kwargs.get("dtype")
        _place(kwargs.get("device"))
        for a in args:
            if isinstance(a, Tensor):
                dtype = a.dtype
            elif isinstance(a, _C.dtype):
                dtype = a
            elif not isinstance(a, bool):
                _place(a)
        if dtype is None:
            return self
        return self._apply(lambda t: t.to(dtype) if t.dtype.is_floating_point else t)

    def float(self):
        return self.to(_C.float32)

    def double(self):
        return self.to(_C.float64)

    def half(self):
        return self.to(_C.float16)

    def bfloat16(self):
        return self.to(_C.bfloat16)

    def type(self, dtype):
        return self.to(dtype)

    def cpu(self):
        return self

    def cuda(self, device=None):
        return self.to("cuda" if device is None else device)

    def to_empty(self, *, device=None, recurse=True):
        return self.to(device)

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        pass

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            p.grad = None

    def _get_name(self):
        name = type(self).__name__
        return "Parametrized" + name if "parametrizations" in self.__dict__["_modules"] else name

    def extra_repr(self):
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): " + _indent(repr(module), 2) for name, module in self._modules.items()]
        lines = extra_lines + child_lines
        out = self._get_name() + "("
        if lines:
            if len(extra_lines) == 1 and not child_lines:
                out += extra_lines[0]
            else:
                out += "\n  " + "\n  ".join(lines) + "\n"
        return out + ")"
