"""torch.__future__: whether converted parameters are others (`Module.to`)."""

_overwrite = False


def set_overwrite_module_params_on_conversion(value):
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion():
    return _overwrite


def set_swap_module_params_on_conversion(value):
    if value:
        raise NotImplementedError("parameters that are swapped: torch.__future__.set_overwrite_module_params_on_conversion(True) replaces them")


def get_swap_module_params_on_conversion():
    return False
