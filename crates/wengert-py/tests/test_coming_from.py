"""The pages for those who come from elsewhere: their programs in both, where the other library is installed."""

import re

import pytest
from conftest import ROOT, ecosystem
from test_pages import run_page

LIBRARIES = {"jax": "jax", "pytorch": "torch", "casadi": "casadi"}


@pytest.mark.parametrize("page", LIBRARIES)
def test_both_agree(page, tmp_path, monkeypatch):
    ecosystem(LIBRARIES[page])
    run_page(f"docs/coming-from/{page}.md", tmp_path, monkeypatch)


def test_enzyme(tmp_path, monkeypatch):
    """What is Python on the page is run in any case, what is C++ by Enzyme-JAX where it is installed."""
    names = run_page("docs/coming-from/enzyme.md", tmp_path, monkeypatch)
    pytest.importorskip("enzyme_ad")
    import jax
    import numpy as np
    from enzyme_ad.jax import cpp_call

    jax.config.update("jax_enable_x64", True)
    page = (ROOT / "docs/coming-from/enzyme.md").read_text()
    source = re.search(r"^```cpp\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1)
    # Enzyme-JAX has no headers of the system, and declares some of what a program does.
    source = source.replace("#include <cmath>", "namespace std { extern \"C\" double sin(double); }")
    source = source.replace("extern int enzyme_dup, enzyme_const;", "extern int enzyme_const;")
    source += """
void f(enzyme::tensor<double, 1>& out, const enzyme::tensor<double, 2>& in) {
    out[0] = by_length(in[0], in[1]);
}
"""
    out = [jax.core.ShapedArray([1], np.float64)]
    (theirs,) = jax.jit(lambda x: cpp_call(x, out_shapes=out, source=source, fn="f", argv=("-O2",)))(np.array([0.5, 1.0]))
    assert abs(float(theirs[0]) - names["by_length"]) < 1e-12
