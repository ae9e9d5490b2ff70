"""Who takes part: each peer's module, what it is installed from, and the settings it is run with.

All run on one thread of one core. JAX, and what stands on it, is there as it comes and *tuned*: with an option of its compiler that makes one
native function of a whole loop where otherwise each operation of its body is dispatched by itself. It is the one found that helps, and
is written down nowhere but in XLA's source.
"""

from dataclasses import dataclass, field

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
XLA = "--xla_cpu_multi_thread_eigen=false"
TUNED = f"{XLA} --xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1000000000"


@dataclass
class Peer:
    module: str
    packages: list[str]
    about: str
    environment: dict[str, str] = field(default_factory=dict)


JAX = ["jax", "jaxlib"]

PEERS = {
    "wengert": Peer("wengert_peer", [], "this project's Python package, backend `auto`"),
    "JAX": Peer("jax_scan", JAX, "`lax.scan`, reverse mode", {"XLA_FLAGS": XLA}),
    "JAX tuned": Peer("jax_scan", JAX, "the same, whole loops compiled", {"XLA_FLAGS": TUNED}),
    "JAX checkpoint": Peer("jax_checkpoint", JAX, "`jax.checkpoint` on pieces of the scan, tuned", {"XLA_FLAGS": TUNED}),
    "JAX forward": Peer("jax_forward", JAX, "`jax.jvp` along all numbers at once, tuned", {"XLA_FLAGS": TUNED}),
    "Equinox": Peer("equinox_while", [*JAX, "equinox"], "`while_loop(kind=\"checkpointed\")`, tuned", {"XLA_FLAGS": TUNED}),
    "PyTorch": Peer("torch_eager", ["torch"], "eager"),
    "CasADi": Peer("casadi_graph", ["casadi"], "`fold` of a step, its virtual machine"),
    "CasADi C": Peer("casadi_graph", ["casadi"], "the same as C, by the machine's compiler", {"CASADI_C": "1"}),
    "autograd": Peer("autograd_eager", ["autograd"], "HIPS autograd"),
    "Warp": Peer("warp_kernel", ["warp-lang"], "a kernel of one thread, on the processor"),
    "CoDiPack": Peer("codipack_tape", [], "C++, `RealReverse`, g++ -O3 -march=native"),
    "Enzyme": Peer("enzyme_jax", [*JAX, "enzyme-ad"], "C++ through `enzyme_ad.jax.cpp_call`, -O3", {"XLA_FLAGS": XLA}),
    "Enzyme fast": Peer("enzyme_jax", [*JAX, "enzyme-ad"], "the same, -ffast-math", {"XLA_FLAGS": XLA, "ENZYME_FAST": "1"}),
}
