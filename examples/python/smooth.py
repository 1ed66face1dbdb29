"""A robot that drives in circles, estimated step by step (iSAM2)."""
import covtune as ct
import numpy as np

noise = ct.Noise()
noise.add("prior", sigma=[0.01, 0.01, 0.01])
noise.add("odom", sigma=[0.05, 0.05, 0.02])
noise.add("loop", sigma=[0.1, 0.1, 0.05])
smoother, rng = ct.Smoother(noise), np.random.default_rng(1)
x = smoother.add_variables("SE2", [[0, 0, 0]])
smoother.add_prior(x, [[0, 0, 0]], noise="prior")
smoother.update()
for k in range(1, 201):
    step = np.array([1, 0, 2 * np.pi / 50]) + rng.normal(size=3) * [0.05, 0.05, 0.02]
    px, py, yaw = smoother.values([k - 1])[0]
    guess = [px + np.cos(yaw) * step[0] - np.sin(yaw) * step[1], py + np.sin(yaw) * step[0] + np.cos(yaw) * step[1],
             yaw + step[2]]
    new = smoother.add_variables("SE2", [guess])
    smoother.add_between([k - 1], new, [step], noise="odom")
    if k % 50 == 0:  # back where it began
        smoother.add_between([0], new, [rng.normal(size=3) * 0.05], noise="loop")
    smoother.update()
print(smoother)
print("last pose", smoother.values([200])[0].round(2), "sigma", np.sqrt(np.diag(smoother.marginals([200])[0])).round(3))
