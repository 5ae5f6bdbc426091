"""Named by what a script may do instead: nothing runs beside it."""

raise ImportError("asyncio is not here: this machine has no event loop, and 'async def' is refused; call functions in turn, or through threading and concurrent.futures", name="asyncio")
