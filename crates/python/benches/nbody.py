import time, math
class Body:
    def __init__(self, x, y, z, vx, vy, vz, m):
        self.x, self.y, self.z, self.vx, self.vy, self.vz, self.m = x, y, z, vx, vy, vz, m
bodies = [Body(0.0,0.0,0.0,0.0,0.0,0.0,39.47), Body(4.84,-1.16,-0.10,0.606,2.81,-0.02,0.037), Body(8.34,4.12,-0.4,-1.01,1.82,0.008,0.011), Body(12.89,-15.11,-0.22,1.08,0.868,-0.01,0.0017), Body(15.37,-25.9,0.179,0.979,0.594,-0.034,0.002)]
def advance(dt, n):
    for _ in range(n):
        for i in range(len(bodies)):
            a = bodies[i]
            for j in range(i + 1, len(bodies)):
                b = bodies[j]
                dx = a.x - b.x
                dy = a.y - b.y
                dz = a.z - b.z
                d = dx * dx + dy * dy + dz * dz
                mag = dt / (d * math.sqrt(d))
                a.vx -= dx * b.m * mag
                a.vy -= dy * b.m * mag
                a.vz -= dz * b.m * mag
                b.vx += dx * a.m * mag
                b.vy += dy * a.m * mag
                b.vz += dz * a.m * mag
        for b in bodies:
            b.x += dt * b.vx
            b.y += dt * b.vy
            b.z += dt * b.vz
t=time.perf_counter(); advance(0.01, 10000); print("nbody", time.perf_counter()-t)
