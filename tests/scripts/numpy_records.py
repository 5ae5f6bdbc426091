import numpy as np
dt = np.dtype([("name", "U10"), ("age", "i4"), ("weight", "f4")])
x = np.array([("Rex", 9, 81.0), ("Fido", 3, 27.5)], dtype=[("name", "U10"), ("age", "i4"), ("weight", "f4")])
print(x); print(repr(x)); print(x["age"], x["weight"].mean(), x.dtype.names, x.dtype, repr(dt), dt == x.dtype, dt["age"], len(dt))
print(x[0], x[1]["name"], x[0][1], x[-1].item(), type(x[0]).__name__, len(x[0]))
x["age"] = 5; x[0]["weight"] = 1; x[1] = ("Max", 2, 3.25); print(x)
print(np.sort(x, order="weight"), x[x["age"] > 3], x[::-1]["name"], x[["name", "age"]], x.shape, x.size, x.ndim, len(x))
z = np.zeros(3, dtype=dt); z["age"] = [1, 2, 3]; z["name"][1] = "Bo"; print(z, z["name"].dtype)
z[1:]["weight"] = 7; print(z["weight"], z.itemsize, dt.itemsize, dt.fields["age"] if 0 else "")
for row in x: print(row["name"], row["age"])
print(x.tolist(), x.copy()["age"].sum(), np.array([(1, 2.0)], dtype="i4,f8"), np.argsort(x, order=["age", "weight"]))
print(np.empty((2, 2), dtype=[("a", float)]).shape, x["name"] == "Max")
try: x["nothing"]
except ValueError as e: print(e)
