"""torch.distributed.device_mesh: the processes as a grid, with a group for each of its lines."""

import math

import torch
from torch import distributed as dist

__all__ = ["init_device_mesh", "DeviceMesh"]


class DeviceMesh:
    def __init__(self, device_type, mesh, *, mesh_dim_names=None, _init_backend=True):
        mesh = torch.as_tensor(mesh, dtype=torch.int32)
        self.device_type, self.mesh = device_type, mesh
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._shape = tuple(mesh.shape)
        self._stride = tuple(math.prod(self._shape[i + 1:]) for i in range(len(self._shape)))
        if not dist.is_initialized():
            dist.init_process_group()
        world, count = dist.get_world_size(), math.prod(self._shape)
        if count > world:
            raise RuntimeError(f"Mesh should not be bigger than default world size {world}, but found {count} ranks!")
        ranks = mesh.reshape(-1).tolist()
        me = dist.get_rank()
        place = ranks.index(me) if me in ranks else None
        self._coordinate = None if place is None else [place // s % n for s, n in zip(self._stride, self._shape)]
        self._groups = [self._lines(dim, ranks, world, me) for dim in range(len(self._shape))]

    def _lines(self, dim, ranks, world, me):
        """The group of this process along a dimension. All processes make the groups of all lines."""
        if self._shape[dim] == world and sorted(ranks) == list(range(world)):
            return dist.group.WORLD
        own = None
        step, n = self._stride[dim], self._shape[dim]
        for first in range(len(ranks)):
            if first // step % n == 0:
                line = [ranks[first + i * step] for i in range(n)]
                made = dist.new_group(line)
                own = made if me in line else own
        return own

    @property
    def shape(self):
        return self._shape

    @property
    def ndim(self):
        return len(self._shape)

    def size(self, mesh_dim=None):
        return math.prod(self._shape) if mesh_dim is None else self._shape[mesh_dim]

    def stride(self):
        return self._stride

    def _dim(self, name):
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if name not in self.mesh_dim_names:
            raise KeyError(f"Mesh dimension '{name}' does not exist.",
                           f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}")
        return self.mesh_dim_names.index(name)

    def __getitem__(self, names):
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        if names == self.mesh_dim_names:
            return self
        if not all(name in self.mesh_dim_names for name in names):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {list(self.mesh_dim_names)}.")
        dims = [self.mesh_dim_names.index(name) for name in names]
        if dims != sorted(set(dims)):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        part = DeviceMesh.__new__(DeviceMesh)
        part.device_type, part.mesh_dim_names = self.device_type, names
        part._shape, part._stride = tuple(self._shape[d] for d in dims), tuple(self._stride[d] for d in dims)
        at = self._coordinate or [0] * self.ndim
        part.mesh = self.mesh[tuple(slice(None) if d in dims else at[d] for d in range(self.ndim))]
        part._coordinate = None if self._coordinate is None else [self._coordinate[d] for d in dims]
        part._groups = [self._groups[d] for d in dims]
        return part

    def get_group(self, mesh_dim=None):
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions",
                               "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1."
                               "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                               "please use `get_all_groups()` instead.")
        return self._groups[self._dim(mesh_dim) if isinstance(mesh_dim, str) else mesh_dim or 0]

    def get_all_groups(self):
        return [self.get_group(i) for i in range(self.ndim)]

    def get_rank(self):
        return dist.get_rank()

    def get_local_rank(self, mesh_dim=None):
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions",
                               "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.")
        return dist.get_rank(self.get_group(mesh_dim))

    def get_coordinate(self):
        return None if self._coordinate is None else tuple(self._coordinate)

    def __eq__(self, other):
        if not isinstance(other, DeviceMesh):
            return False
        mine, others = (m.mesh.tolist() for m in (self, other))
        return (mine, self.device_type, self.mesh_dim_names) == (others, other.device_type, other.mesh_dim_names)

    def __hash__(self):
        return hash((self._shape, self.device_type, self.mesh_dim_names))

    def __repr__(self):
        if self.mesh_dim_names:
            sizes = "(" + ", ".join(f"{k}={v}" for k, v in zip(self.mesh_dim_names, self._shape)) + ")"
        else:
            sizes = f"{self._shape}"
        return f"DeviceMesh({sizes}, '{self.device_type}', stride={self._stride})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique. "
                               f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}")
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length! "
                               f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.")
    if device_type and not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. ",
                           "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.")
    mesh = torch.arange(math.prod(mesh_shape), dtype=torch.int32).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names)
