"""Learn noise models from simulated navigation and test them on other sequences."""
import covtune as ct

data = ct.simulate_nav("D3", train=5, test=5, poses=150)
start = data.noise
for name in start.names[1:]:
    start.set(name, sigma=[0.5, 0.5, 0.5])
data.noise = start

result = ct.learn(data)
print(result.meaning)
for row in result.rows:
    print(f"{row.label:12s} {row.sigma:.4f} +- {row.sigma_error:.4f} {row.unit}")
before, after = ct.evaluate(data), ct.evaluate(data, result.noise)
print(f"position error on unseen sequences: {before.translation:.3f} m before, {after.translation:.3f} m after")
result.write("noise.json")
