"""Orders of things that need one another."""


class CycleError(ValueError):
    pass


class TopologicalSorter:
    def __init__(self, graph=None):
        self._needs, self._done, self._out, self._ready = {}, set(), set(), None
        for node, needed in (graph or {}).items():
            self.add(node, *needed)

    def add(self, node, *predecessors):
        if self._ready is not None:
            raise ValueError("Nodes cannot be added after a call to prepare()")
        for n in (node, *predecessors):
            self._needs.setdefault(n, [])
        self._needs[node].extend([p for p in predecessors if p not in self._needs[node]])

    def _cycle(self):
        seen, path = set(), []

        def walk(node):
            if node in path:
                return path[path.index(node):] + [node]
            if node in seen:
                return None
            seen.add(node)
            path.append(node)
            for p in self._needs[node]:
                found = walk(p)
                if found:
                    return found
            path.pop()
            return None
        for node in self._needs:
            found = walk(node)
            if found:
                return found[::-1]
        return None

    def prepare(self):
        if self._ready is not None:
            raise ValueError("cannot prepare() more than once")
        cycle = self._cycle()
        self._ready = []
        if cycle:
            raise CycleError("nodes are in a cycle", cycle)

    def get_ready(self):
        if self._ready is None:
            raise ValueError("prepare() must be called first")
        ready = tuple([n for n, needs in self._needs.items() if n not in self._out and all([p in self._done for p in needs])])
        self._out.update(ready)
        return ready

    def is_active(self):
        if self._ready is None:
            raise ValueError("prepare() must be called first")
        return len(self._done) < len(self._needs)

    __bool__ = is_active

    def done(self, *nodes):
        for node in nodes:
            if node not in self._needs:
                raise ValueError(f"node {node!r} was not added using add()")
            if node not in self._out:
                raise ValueError(f"node {node!r} was not passed out (still not ready)")
            self._done.add(node)

    def static_order(self):
        self.prepare()
        while self.is_active():
            group = self.get_ready()
            yield from group
            self.done(*group)
