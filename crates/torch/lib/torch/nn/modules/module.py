"""The base of all modules."""

from collections import OrderedDict, namedtuple
from torch import _C, _place
from torch._C import Tensor
from torch.autograd.function import _watched_inputs, _watched_outputs
from torch.nn.parameter import Buffer, Parameter, is_lazy
from torch._hooks import add
import functools
import sys


class _Incompatible(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


def _typename(value):
    return value.type() if isinstance(value, Tensor) else type(value).__name__


def _indent(text, spaces):
    lines = text.split("\n")
    return "\n".join([lines[0]] + [" " * spaces + line for line in lines[1:]])


# Hooks on every module. Scripts may put other tables in their places.
_global_forward_hooks, _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called = {}, {}, {}
_global_forward_pre_hooks, _global_backward_hooks, _global_backward_pre_hooks = {}, {}, {}


def register_module_forward_pre_hook(hook):
    return add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    return add(_global_forward_hooks, hook, False, (_global_forward_hooks_with_kwargs, with_kwargs),
               (_global_forward_hooks_always_called, always_call))


def register_module_full_backward_hook(hook):
    return add(_global_backward_hooks, hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook):
    return add(_global_backward_pre_hooks, hook)


_addindent = _indent


_TABLES = """_forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks _forward_pre_hooks_with_kwargs
_backward_hooks _backward_pre_hooks _state_dict_hooks _state_dict_pre_hooks _load_state_dict_pre_hooks _load_state_dict_post_hooks""".split()


class Module:
    training = True

    def __init__(self, *args, **kwargs):
        d = self.__dict__
        d["training"] = True
        d["_parameters"] = {}
        d["_buffers"] = {}
        d["_non_persistent_buffers_set"] = set()
        d["_modules"] = {}
        self._fill_hook_tables()

    def _fill_hook_tables(self):
        for table in _TABLES:
            self.__dict__.setdefault(table, {})

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._fill_hook_tables()

    def forward(self, *args):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):
        d = self.__dict__
        if not (d["_forward_hooks"] or d["_forward_pre_hooks"] or d["_backward_hooks"] or d["_backward_pre_hooks"] or _global_forward_pre_hooks
                or _global_forward_hooks or _global_backward_hooks or _global_backward_pre_hooks):
            return self.forward(*args, **kwargs)
        called = set()
        try:
            return self._call_hooked(args, kwargs, called)
        except Exception:
            # Those that are called in any case; an error of their own does not take the place of this one.
            for hooks, always in ((_global_forward_hooks, _global_forward_hooks_always_called),
                                  (d["_forward_hooks"], d["_forward_hooks_always_called"])):
                for key in [k for k in always if k in hooks and k not in called]:
                    try:
                        self._call_forward_hook(key, hooks[key], args, kwargs, None)
                    except Exception as error:
                        import warnings
                        warnings.warn("module forward hook with ``always_call=True`` raised an exception that was silenced as another error "
                                      f"was raised in forward: {error}", stacklevel=2)
            raise

    def _call_hooked(self, args, kwargs, called):
        d = self.__dict__
        for key, hook in [*_global_forward_pre_hooks.items(), *d["_forward_pre_hooks"].items()]:
            with_kwargs = key in d["_forward_pre_hooks_with_kwargs"]
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None:
                if not with_kwargs:
                    args = changed if isinstance(changed, tuple) else (changed,)
                elif isinstance(changed, tuple) and len(changed) == 2:
                    args, kwargs = changed
                else:
                    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
        backward = [*_global_backward_hooks.values(), *d["_backward_hooks"].values()]
        before = [*_global_backward_pre_hooks.values(), *d["_backward_pre_hooks"].values()]
        watched = backward or before
        if watched:
            seen, args = _watched_inputs(self, backward, before, args)
        result = self.forward(*args, **kwargs)
        for key, hook in [*_global_forward_hooks.items(), *d["_forward_hooks"].items()]:
            called.add(key)
            changed = self._call_forward_hook(key, hook, args, kwargs, result)
            result = result if changed is None else changed
        return _watched_outputs(seen, result) if watched else result

    def _call_forward_hook(self, key, hook, args, kwargs, result):
        if key in _global_forward_hooks_with_kwargs or key in self.__dict__["_forward_hooks_with_kwargs"]:
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

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
                from torch.nn.utils.parametrize import _value
                return _value(parametrized[name])
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
                raise TypeError(f"cannot assign '{_typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            parameters[name] = None
        elif parameters is not None and name in d["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            d["_modules"][name] = None
        elif parameters is not None and (name in d["_buffers"] or isinstance(value, Buffer)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
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

    def _check_name(self, kind, name):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        kept = {"parameter": "_parameters", "buffer": "_buffers", "module": "_modules"}[kind]
        if name not in self.__dict__[kept] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name, param):
        self._check_name("parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        self._check_name("buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_name("module", name)
        self._modules[name] = module

    register_module = add_module

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return add(self._forward_hooks, hook, prepend, (self._forward_hooks_with_kwargs, with_kwargs),
                   (self._forward_hooks_always_called, always_call))

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return add(self._forward_pre_hooks, hook, prepend, (self._forward_pre_hooks_with_kwargs, with_kwargs))

    def register_full_backward_hook(self, hook, prepend=False):
        return add(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return add(self._backward_pre_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook):
        return add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered via "
                               "register_state_dict_post_hook")
        return add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._register_load_state_dict_pre_hook(hook, True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return add(self._load_state_dict_pre_hooks, functools.partial(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook):
        return add(self._load_state_dict_post_hooks, hook)

    def get_extra_state(self):
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self, remove_duplicate=True):
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
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
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
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

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _get_member(self, target, kind, what):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module.__dict__[kind]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[kind][name]

    def get_parameter(self, target):
        return self._get_member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        return self._get_member(target, "_buffers", "a buffer")

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for kind in ("_parameters", "_buffers"):
            for name, value in self.__dict__[kind].items():
                if value is not None and (kind == "_parameters" or name not in self._non_persistent_buffers_set):
                    destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {"version": getattr(self, "_version", 1)}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            made = hook(self, destination, prefix, local)
            if made is not None and getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if made is None else made
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {n: p for n, p in self._parameters.items() if p is not None}
        own.update({n: b for n, b in self._buffers.items() if b is not None and n not in self._non_persistent_buffers_set})
        for name, value in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                    f"received {type(given)}")
            elif not is_lazy(value) and tuple(given.shape) != tuple(value.shape):
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                    f"the shape in current model is {value.shape}.")
            elif local_metadata.get("assign_to_params_buffers"):
                if isinstance(value, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given.detach(), requires_grad=value.requires_grad)
                setattr(self, name, given)
            else:
                if _C.is_meta(value) and not _C.is_meta(given):
                    import warnings
                    warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
                                  "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
                                  "corresponding key in the module instead of copying them in place?)", stacklevel=2)
                value.detach().copy_(given.detach())
        extra = prefix + "_extra_state"
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra or key == extra and type(self).set_extra_state is Module.set_extra_state:
                    parts = key[len(prefix):].split(".", 1)
                    if parts[0] not in own if len(parts) == 1 else parts[0] not in self._modules:
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}
        state_dict = OrderedDict(state_dict)

        def load(module, state_dict, prefix):
            local = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local["assign_to_params_buffers"] = True
            module._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    inner = prefix + name + "."
                    load(child, {k: v for k, v in state_dict.items() if k.startswith(inner)}, inner)
            for hook in list(module._load_state_dict_post_hooks.values()):
                hook(module, _Incompatible(missing, unexpected))

        load(self, state_dict, "")
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join([f'"{k}"' for k in unexpected]) + ". ")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join([f'"{k}"' for k in missing]) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _Incompatible(missing, unexpected)

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        overwrite = getattr(sys.modules.get("torch.__future__"), "_overwrite", False)
        for name, value in self._parameters.items():
            if value is None:
                continue
            old, grad = value.detach(), value.grad
            made = fn(old)
            if made is old and not overwrite:
                continue
            if overwrite:
                self._parameters[name] = value = Parameter(made, value.requires_grad)
            else:
                value.data = made
            if grad is not None:
                value.grad = fn(grad.detach()).requires_grad_(grad.requires_grad)
        for name, value in self._buffers.items():
            if value is not None:
                self._buffers[name] = fn(value)
        return self

    def to(self, *args, **kwargs):
        dtype, place = kwargs.get("dtype"), None
        args += (kwargs.get("device"),) if kwargs.get("device") is not None else ()
        for a in args:
            if isinstance(a, Tensor):
                dtype = a.dtype
            elif isinstance(a, _C.dtype):
                dtype = a
            elif not isinstance(a, bool):
                place = str(a)
        if place == "meta":
            self._replace(_C.as_meta)
        elif place is not None:
            _place(place)
            if any([_C.is_meta(t) for t in [*self.parameters(), *self.buffers()]]):
                raise NotImplementedError("Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                                          "torch.nn.Module.to() when moving module from meta to a different device.")
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        return self._apply(lambda t: t.to(dtype) if t.dtype.is_floating_point else t)

    def _replace(self, make):
        """Others in the places of all parameters and buffers."""
        known = {}
        for module in self.modules():
            for values in (module._parameters, module._buffers):
                for name, value in values.items():
                    if value is None:
                        continue
                    if id(value) not in known:
                        made = make(value)
                        known[id(value)] = Parameter(made, value.requires_grad) if isinstance(value, Parameter) else made
                    values[name] = known[id(value)]
        return self

    def float(self):
        return self.to(_C.float32)

    def double(self):
        return self.to(_C.float64)

    def half(self):
        return self.to(_C.float16)

    def bfloat16(self):
        return self.to(_C.bfloat16)

    def type(self, dst_type):
        return self.to(dst_type)

    def cpu(self):
        return self

    def cuda(self, device=None):
        return self.to("cuda" if device is None else device)

    def to_empty(self, *, device=None, recurse=True):
        import torch
        return self._replace(lambda t: torch.empty(t.shape, dtype=t.dtype, device=device))

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        from torch.compiler import compile
        self.__dict__["forward"] = compile(self.forward, *args, **kwargs)

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
            if set_to_none or p.grad is None:
                p.grad = None
            else:
                p.grad.detach_().zero_()

    def _get_name(self):
        return type(self).__name__

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
